/** The state of a rank's training loop, for a checkpoint. */
import type { RankCheckpoint } from '../checkpoint/rank-checkpoint.ts';
import type { Trainer } from '../training/trainer.ts';
import type { EngineClient } from './engine/engine-client.ts';
import type { Steps } from './steps/steps.ts';

interface LoopParts {
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  readonly steps: Steps;
}

/**
 * Copies the state before an iteration.
 * @param metric of the last evaluation
 */
export async function copyState(
  { trainer, engine, steps }: LoopParts,
  iteration: number,
  metric: number | undefined,
): Promise<RankCheckpoint> {
  const weights = new Float32Array(trainer.length);
  const state = new Float32Array(trainer.stateLength);
  await trainer.readWeights(weights);
  await trainer.readState(state);
  const saved = await engine.call('save', {});
  return {
    iteration,
    weights,
    state,
    steps: steps.state,
    engine: saved.state,
    passages: saved.passages,
    metric,
  };
}

/** Restores weights and state of trainer and steps. */
export async function restoreState(
  { trainer, steps }: Pick<LoopParts, 'trainer' | 'steps'>,
  checkpoint: RankCheckpoint,
): Promise<void> {
  await trainer.writeWeights(checkpoint.weights);
  await trainer.writeState(checkpoint.state);
  for (const [i, vector] of steps.state.entries()) vector.set(checkpoint.steps[i]!);
}
