/** The wishes of ranks after an iteration; the highest wish of any rank wins. */
import { MOST_TRACED } from '../../shared/orders/trace.ts';

export const GO_ON = 0;
// 1 to MOST_TRACED: trace this number of iterations.
const CHECKPOINT = MOST_TRACED + 1;
/** The rank has no more gradients: its program ends. */
const END = MOST_TRACED + 2;
const STOP = MOST_TRACED + 3;
const PAUSE = MOST_TRACED + 4;

export interface Wishes {
  /** A rank has no more gradients, and no rank wants to stop or pause. */
  readonly end: boolean;
  /** All ranks agreed to stop after this iteration. */
  readonly stop: boolean;
  /** All ranks agreed to stop after this iteration; the run will resume later from a checkpoint. */
  readonly pause: boolean;
  /** All ranks agreed to write a checkpoint as soon as they can. */
  readonly checkpoint: boolean;
  /** All ranks agreed to trace this number of iterations from the next one on; 0: none. */
  readonly trace: number;
}

export const wishes = (agreed: number): Wishes => ({
  end: agreed === END,
  stop: agreed === STOP,
  pause: agreed === PAUSE,
  checkpoint: agreed === CHECKPOINT,
  trace: agreed <= MOST_TRACED ? agreed : 0,
});

/**
 * Wishes of one rank, each until all ranks have agreed on it. A run ends once, so a wish to end it
 * stays.
 */
export class OwnWishes {
  #ending = GO_ON;
  #checkpoint = GO_ON;
  #trace = GO_ON;

  /** The highest wish of this rank. */
  get highest(): number {
    return Math.max(this.#ending, this.#checkpoint, this.#trace);
  }

  end(): void {
    this.#ending = Math.max(this.#ending, END);
  }

  stop(): void {
    this.#ending = Math.max(this.#ending, STOP);
  }

  pause(): void {
    this.#ending = PAUSE;
  }

  checkpoint(): void {
    this.#checkpoint = CHECKPOINT;
  }

  trace(iterations: number): void {
    this.#trace = Math.max(this.#trace, iterations);
  }

  /** Removes the wish that all ranks have agreed on. Lower wishes stay for the next agreement. */
  agreed(request: number): Wishes {
    const agreed = wishes(request);
    if (agreed.checkpoint) this.#checkpoint = GO_ON;
    if (agreed.trace > 0) this.#trace = GO_ON;
    return agreed;
  }
}
