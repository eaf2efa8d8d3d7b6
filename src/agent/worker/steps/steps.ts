/**
 * What happens to a batch, from its gradient to the weights that are moved by it. Each form
 * of parallelism is one file with this interface; the training loop does not know which.
 */
import type { ExperimentSpec } from '../../../shared/experiment-spec.ts';
import type { ExchangeProfile } from '../../profile/phase-clock.ts';
import type { StepResult, Trainer } from '../../training/trainer.ts';
import type { EngineClient } from '../engine/engine-client.ts';
import type { EngineCalls } from '../engine/engine-protocol.ts';
import type { ComputedGradient } from '../trainers/compute-gradient.ts';
import type { GradientComparison } from './gradient-comparison.ts';

export interface StepsOptions {
  readonly rank: number;
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  /** When checkpoints are due, where some are kept. */
  readonly checkpoints?: { isDue(iteration: number): boolean } | undefined;
  readonly comparison: GradientComparison;
  /** Throws where a loss is not finite: nothing must be moved by it. */
  readonly requireFinite: (step: StepResult, iteration: number) => void;
}

export interface TakenStep extends ComputedGradient {
  /** Moving weights, ms. */
  readonly apply: number;
  /** Undefined where the rank was on its own. */
  readonly exchange: EngineCalls['exchange']['reply'] | undefined;
  /** Of other averages that were taken in this iteration; default: none. */
  readonly averages?: readonly ExchangeProfile[] | undefined;
  /** Iterations by which the gradient is older than the weights that it moves, or its own were. */
  readonly staleness: number;
  /** Which of the rank's trainer threads has computed it, where it has several. */
  readonly thread?: number | undefined;
  /** Whether all that was kept back was sent along; default: not. */
  readonly drained?: boolean | undefined;
  /**
   * Milliseconds by which the iteration was longer than this call: each is the iteration's of
   * whose batch it was. Negative where it was shorter.
   */
  readonly elsewhere: number;
}

export interface Steps {
  /** What is exchanged, and what the exchange has made of it; undefined where on a GPU. */
  readonly exchanged: Float32Array | undefined;
  /**
   * What a checkpoint must have beside the trainer's state: vectors of a number for each
   * weight. Where replicas that drift are brought together, so are these.
   */
  readonly state: readonly Float32Array[];
  /** The first iteration after the last exchange before this one's. */
  since(iteration: number): number;
  /** Whether ranks exchange in this iteration. */
  exchangesIn(iteration: number): boolean;
  /** @param compares whether what is exchanged is to be compared */
  take(iteration: number, compares: boolean): Promise<TakenStep>;
}

/** Of all iterations from `since` on up to this one, whether one is a multiple of `every`. */
export const isDue = (
  every: number | undefined,
  { since, iteration }: { readonly since: number; readonly iteration: number },
): boolean =>
  every !== undefined &&
  every > 0 &&
  Math.floor((iteration + 1) / every) > Math.floor(since / every);
