/**
 * The times at which the page draws: clocks tick at most so often, whatever the rate of the data, and
 * ticks and drawings take turns, each in a frame of its own. What a frame computes, lays out and paints
 * is one task, which blocks the page; two drawings in one would be twice as long.
 */

/** Work that is told the time of its frame. */
export type FrameWork = (now: number) => void;

/** Work that takes turns: each has a frame of its own, first come, first served. */
export class FrameTurns {
  readonly #request: (callback: FrameWork) => void;
  #waiting: FrameWork[] = [];
  /** Whether a frame was requested. */
  #requested = false;

  /** @param request calls back in the next frame; hidden pages have none */
  constructor(request: (callback: FrameWork) => void) {
    this.#request = request;
  }

  /** Runs work in one of the next frames; asking again before that changes nothing. */
  take(work: FrameWork): void {
    if (!this.#waiting.includes(work)) this.#waiting.push(work);
    this.#requestNext();
  }

  /** Forgets work that is no longer needed. */
  leave(work: FrameWork): void {
    this.#waiting = this.#waiting.filter((each) => each !== work);
  }

  #requestNext(): void {
    if (this.#requested) return;
    this.#requested = true;
    this.#request(this.#runNext);
  }

  readonly #runNext = (now: number): void => {
    this.#requested = false;
    const work = this.#waiting.shift();
    // The others have their turns even if this one fails.
    if (this.#waiting.length > 0) this.#requestNext();
    work?.(now);
  };
}

/** The turns of this page: ticks of its clocks and drawings of its charts. */
export const pageTurns = new FrameTurns((callback) => {
  requestAnimationFrame(callback);
});

/**
 * Decides when to draw: call `touch()` whenever data arrives; `tick` changes at most
 * once per interval, with the browser's frames, and not while the page is hidden.
 * Drawings depend on `tick` and are computed once per change, however many records came
 * in between; a tick always follows the last touch. Each tick has a frame of its own.
 */
export class RedrawClock {
  readonly #interval: number;
  #tick = $state(0);
  #last = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether it waits for its time, or for its frame. */
  #waits = false;
  #closed = false;

  /** @param interval minimum milliseconds between two ticks */
  constructor(interval: number) {
    this.#interval = interval;
  }

  get tick(): number {
    return this.#tick;
  }

  touch(): void {
    if (this.#closed || this.#waits) return;
    this.#waits = true;
    const pause = Math.max(0, this.#last + this.#interval - performance.now());
    this.#timer = setTimeout(() => this.#draw(), pause);
  }

  /** Ticks with the next frame, whenever the last tick was: somebody waits for this drawing. */
  soon(): void {
    if (!this.#closed) this.#draw();
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#waits = true;
    // Hidden pages get no frames; the next one comes when the page is visible again.
    pageTurns.take(this.#inFrame);
  }

  readonly #inFrame = (now: number): void => {
    this.#waits = false;
    this.#last = now;
    this.#tick += 1;
  };

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    pageTurns.leave(this.#inFrame);
  }
}
