/** Checks of what a program says of models that step in turns. */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { Attach, FromProgram } from './messages.ts';

type Ready = Extract<FromProgram, { type: 'ready' }>;

/**
 * The number of models that step in turns; 0 if all are of each step.
 * @throws GradwireError `BRIDGE_INVALID`
 */
export function requireTurns(
  { tensors, turns = [] }: Pick<Attach, 'tensors' | 'turns'>,
  rank: number,
): number {
  const divided = turns.reduce((sum, model) => sum + model.tensors, 0);
  if (turns.length > 0 && divided !== tensors.length) {
    throw refusal(`models of ${divided} tensors, of ${tensors.length}`, rank);
  }
  return turns.length;
}

/**
 * The models that a step is of; none if all are of each step.
 * @param turns number of models that step in turns
 * @throws GradwireError `BRIDGE_INVALID`
 */
export function requireTurn(
  { from, models = [] }: Pick<Ready, 'from' | 'models'>,
  turns: number,
  rank: number,
): readonly number[] {
  const isWhole = turns === 0 ? models.length === 0 : from === 0 && models.length > 0;
  const ascends = models.every((model, i) => i === 0 || model > models[i - 1]!);
  if (isWhole && ascends && models.every((model) => model < turns)) return models;
  throw refusal(`a gradient of models ${models.join()} of ${turns}`, rank);
}

const refusal = (what: string, rank: number): GradwireError =>
  failure('BRIDGE_INVALID', `the program sent ${what}`, {
    rank,
    next: 'Install the package gradwire of the same version as the app.',
  });
