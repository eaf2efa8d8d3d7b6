/** A draft whose model is changed between one of Gradwire's and a program of one's own. */
import type { JsonValue } from '../../../shared/checks/json.ts';
import { PROGRAM } from '../../../shared/spec/program-spec.ts';
import { valueAt, withValue, type Draft } from './spec-draft.ts';

/** Keys of a draft that only models of Gradwire's have. */
const OURS = ['optimizer', 'parallelism', 'iterations', 'evaluateEvery', 'backend'];

/**
 * A copy with another model. A program of one's own has neither our data nor our optimiser, and ends
 * by itself; what was set for one does not suit the other.
 */
export function withModel(draft: Draft, model: JsonValue | undefined): Draft {
  const before = valueAt(draft, 'workload.model');
  if ((before === PROGRAM) === (model === PROGRAM)) {
    return withValue(draft, 'workload.model', model);
  }
  const rest = Object.entries(draft).filter(([key]) => !OURS.includes(key));
  const workload =
    model === PROGRAM ? { model: PROGRAM } : { model: model ?? '', dataset: 'digits' };
  return Object.fromEntries([...rest, ['workload', workload]]) as Draft;
}
