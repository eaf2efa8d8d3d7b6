/** The wishes of ranks after an iteration; the highest wish of any rank wins. */
import { MOST_TRACED } from '../../shared/orders/trace.ts';

export const GO_ON = 0;
// 1 to MOST_TRACED: trace this number of iterations.
/** The rank has no more gradients: its program ends. */
export const END = MOST_TRACED + 1;
export const STOP = END + 1;
export const PAUSE = END + 2;

export interface Wishes {
  readonly end: boolean;
  readonly stop: boolean;
  readonly pause: boolean;
  /** Iterations to trace from the next one on; 0: none. */
  readonly trace: number;
}

export const wishes = (agreed: number): Wishes => ({
  end: agreed === END,
  stop: agreed === STOP,
  pause: agreed === PAUSE,
  trace: agreed <= MOST_TRACED ? agreed : 0,
});
