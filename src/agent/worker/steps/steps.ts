/**
 * The processing of a batch, from its gradient to the updated weights. Each form of
 * parallelism is one file with this interface; the training loop does not know which.
 */
import type { ExperimentSpec } from '../../../shared/spec/experiment-spec.ts';
import type { Notice } from '../../../shared/records/notice.ts';
import type { ProgramTrace } from '../../bridge/messages.ts';
import type { ExchangeProfile } from '../../profile/phase-clock.ts';
import type { StepResult, Trainer } from '../../training/trainer.ts';
import type { EngineClient } from '../engine/engine-client.ts';
import type { EngineCalls } from '../engine/engine-protocol.ts';
import type { ComputedGradient } from '../trainers/batch-gradients.ts';
import type { GradientComparison } from './gradient-comparison.ts';

export interface StepsOptions {
  readonly rank: number;
  readonly spec: ExperimentSpec;
  readonly trainer: Trainer;
  readonly engine: EngineClient;
  /** When checkpoints are due, if they are kept. */
  readonly checkpoints?: { isDue(iteration: number): boolean } | undefined;
  readonly comparison: GradientComparison;
  /** Throws if a loss is not finite, before the weights move. */
  readonly requireFinite: (step: StepResult, iteration: number) => void;
  /** Reports a notice of this rank. */
  readonly notice: (notice: Notice) => void;
  /** Whether the iteration that is to be taken is traced. */
  readonly isTraced: () => boolean;
  /** Whether the loop looks at the weights after this iteration, or changes them. */
  readonly wantsWeights: (iteration: number) => boolean;
}

/** Begin and end on the thread's clock, ms. */
export type Span = readonly [start: number, end: number];

/** A step that a program of one's own has made beside the rank's threads. */
export interface ProgramSpans extends Pick<ProgramTrace, 'spans' | 'dropped'> {
  /** Begin of the step on the thread’s clock, ms; spans count from it. */
  readonly begin: number;
  /** Milliseconds. */
  readonly wall: number;
}

export interface TakenStep extends ComputedGradient {
  /** Time to update the weights, ms. */
  readonly apply: number;
  /** Spans of the update on the trainer thread's clock; absent if another thread made it. */
  readonly applied?: readonly Span[] | undefined;
  /** Result of the exchange; undefined if the ranks did not exchange. */
  readonly exchange: EngineCalls['exchange']['reply'] | undefined;
  /** Profiles of other averages in this iteration; default: none. */
  readonly averages?: readonly ExchangeProfile[] | undefined;
  /**
   * Iterations by which the gradient, or its weights, are older than the weights that it moves.
   */
  readonly staleness: number;
  /** The trainer thread that computed the gradient, if the rank has several. */
  readonly thread?: number | undefined;
  /** Whether the whole residual was sent along; default: false. */
  readonly drained?: boolean | undefined;
  /**
   * Milliseconds to add to this call's time to get the iteration's. Work counts for the
   * iteration whose batch it serves, so this is negative if the call served another one.
   */
  readonly elsewhere: number;
  /** The iteration's wall time, ms, if this call's says nothing about it. */
  readonly wall?: number | undefined;
  /** Spans of the program that took the step, if it was traced. */
  readonly program?: ProgramSpans | undefined;
}

export interface Steps {
  /** The exchanged vector, which its average then replaces; undefined on a GPU. */
  readonly exchanged: Float32Array | undefined;
  /**
   * Vectors of the weights' length that a checkpoint needs besides the trainer's state.
   * They are averaged together with drifting replicas.
   */
  readonly state: readonly Float32Array[];
  /** The first of the iterations that share this one's exchange. */
  since(iteration: number): number;
  /** Whether ranks exchange in this iteration. */
  exchangesIn(iteration: number): boolean;
  /**
   * @param compares whether the exchanged vector is to be compared
   * @returns undefined if no rank has a further step
   */
  take(iteration: number, compares: boolean): Promise<TakenStep | undefined>;
}

/**
 * Whether the number of completed iterations reaches a multiple of `every` in one of the
 * iterations from `since` to `iteration`. It is `iteration` + 1 after an iteration: they are
 * numbered from 0.
 */
export const isDue = (
  every: number | undefined,
  { since, iteration }: { readonly since: number; readonly iteration: number },
): boolean =>
  every !== undefined &&
  every > 0 &&
  Math.floor((iteration + 1) / every) > Math.floor(since / every);
