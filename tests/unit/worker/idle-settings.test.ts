/** What a spec asks for that does nothing under a plan. */
import { expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { idleUnder } from '../../../src/agent/worker/idle-settings.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';

const TENSORS = [
  { name: 'w', shape: [300, 20], start: 0, length: 6000 },
  { name: 'b', shape: [20], start: 6000, length: 20 },
];
const DRAINED = { parallelism: { kind: 'asynchronous', drainEvery: 9 } };

const codes = (
  given: Record<string, unknown>,
  exchange: Record<string, unknown>,
): readonly string[] => {
  const workload = { model: 'fnn3', dataset: 'digits' };
  const spec = parseExperimentSpec({ name: 'x', workload, ...given });
  return idleUnder(resolvePlan(exchange), spec, TENSORS).map(({ code }) => code);
};

it.each([
  [{}, { method: 'topk' }, []],
  [{ overlap: true }, { method: 'topk' }, ['OVERLAP_IDLE']],
  [{ overlap: true }, { method: 'topk', bucketBytes: 1 }, []],
  [DRAINED, { method: 'topk' }, []],
  [DRAINED, { method: 'none' }, ['DRAIN_IDLE']],
  [DRAINED, { method: 'qsgd' }, ['DRAIN_IDLE']],
  // One tensor has a residual.
  [DRAINED, { method: 'none', layers: [{ match: 'b', method: 'topk' }] }, []],
])('%j with %j: %j', (given, exchange, idle) => {
  expect(codes(given, exchange)).toEqual(idle);
});
