/**
 * Work that takes turns: each has a frame of its own, first come, first served. What a frame computes,
 * lays out and paints is one task, which blocks the page; two drawings in one would be twice as long.
 */
export type FrameWork = (now: number) => void;

export class FrameTurns {
  readonly #request: (callback: FrameWork) => void;
  readonly #waiting = new Set<FrameWork>();
  /** Whether a frame was requested. */
  #requested = false;

  /** @param request calls back in the next frame; hidden pages have none */
  constructor(request: (callback: FrameWork) => void) {
    this.#request = request;
  }

  /** Runs work in one of the next frames; asking again before that changes nothing. */
  take(work: FrameWork): void {
    this.#waiting.add(work);
    this.#requestNext();
  }

  /** Forgets work that is no longer needed. */
  leave(work: FrameWork): void {
    this.#waiting.delete(work);
  }

  #requestNext(): void {
    if (this.#requested) return;
    this.#requested = true;
    this.#request(this.#runNext);
  }

  readonly #runNext = (now: number): void => {
    this.#requested = false;
    const [work] = this.#waiting;
    if (work === undefined) return;
    this.#waiting.delete(work);
    // The others have their turns even if this one fails.
    if (this.#waiting.size > 0) this.#requestNext();
    work(now);
  };
}

/** The turns of this page: ticks of its clocks and drawings of its charts. */
export const pageTurns = new FrameTurns((callback) => {
  requestAnimationFrame(callback);
});
