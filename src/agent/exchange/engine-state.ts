/**
 * An engine's complete state between two exchanges: an engine of the same rank that is created
 * with it, perhaps in another process, continues with the same bits. Plain data and bytes;
 * there is no gradient between two exchanges.
 * Upholds invariant I6 (docs/architecture.md).
 */
import type { SavedSchedule } from '../plan/plan-schedule.ts';
import type { WatchState } from '../auto/exchange-watch.ts';
import type { SavedStream } from './collective-group.ts';

export interface EngineState {
  readonly schedule: SavedSchedule;
  /** Knowledge that `auto` has gained. */
  readonly watch: WatchState;
  readonly streams: readonly SavedStream[];
  /** The methods' state besides the residual, by bucket. */
  readonly buckets: readonly Uint8Array[];
  /** The flat residual, of the gradient's length; undefined if no method keeps one. */
  readonly residual: Float32Array | undefined;
  /** The learning rate of the last exchange, if the residual is a sum of updates. */
  readonly keptAt?: number | undefined;
  /** Velocities of the range that a server of asynchronous training has; default: none. */
  readonly velocities?: readonly Float32Array[] | undefined;
}

/** State that a program keeps in a checkpoint of its own, for runs with other plans as well. */
export interface PortableState {
  readonly method: string;
  /** The methods' state besides the residual, by bucket. */
  readonly states: readonly Uint8Array[];
  /** All that is kept back, flat; undefined if nothing is. */
  readonly residual: Float32Array | undefined;
}
