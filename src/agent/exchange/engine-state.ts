/**
 * Everything that an engine has learned and kept back between two exchanges: an engine of
 * the same rank that is made with it, in another process perhaps, continues with the same bits.
 * Plain data and bytes; of the gradient nothing, for between two exchanges there is none.
 */
import type { SavedSchedule } from '../plan/plan-schedule.ts';
import type { WatchState } from '../auto/exchange-watch.ts';
import type { SavedStream } from './collective-group.ts';

export interface EngineState {
  readonly schedule: SavedSchedule;
  /** What `auto` has learned. */
  readonly watch: WatchState;
  readonly streams: readonly SavedStream[];
  /** Of the buckets, in their order: what methods keep beside the residual. */
  readonly buckets: readonly Uint8Array[];
  /** Flat, of the gradient's length; undefined where no method keeps one. */
  readonly residual: Float32Array | undefined;
  /** η of the last exchange, where its plan keeps updates; default: it does not. */
  readonly keptAt?: number | undefined;
  /** Of a server of asynchronous training: its range's; default: none. */
  readonly velocities?: readonly Float32Array[] | undefined;
}
