/** The frame in which a clock of this page ticked last, by its time. */
let lastFrame = -1;

/**
 * Decides when to draw: call `touch()` whenever data arrives; `tick` changes at most
 * once per interval, with the browser's frames, and not while the page is hidden.
 * Drawings depend on `tick` and are computed once per change, however many records came
 * in between; a tick always follows the last touch. Two clocks never tick in the same frame:
 * what depends on both would be one task, which blocks the page.
 */
export class RedrawClock {
  readonly #interval: number;
  #tick = $state(0);
  #last = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame: number | undefined;
  #closed = false;

  /** @param interval minimum milliseconds between two ticks */
  constructor(interval: number) {
    this.#interval = interval;
  }

  get tick(): number {
    return this.#tick;
  }

  touch(): void {
    if (this.#closed || this.#timer !== undefined || this.#frame !== undefined) return;
    const pause = Math.max(0, this.#last + this.#interval - performance.now());
    this.#timer = setTimeout(() => this.#draw(), pause);
  }

  /** Ticks with the next frame, whenever the last tick was: somebody waits for this drawing. */
  soon(): void {
    if (!this.#closed && this.#frame === undefined) this.#draw();
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Hidden pages get no frames; the next one comes when the page is visible again.
    this.#frame = requestAnimationFrame(this.#inFrame);
  }

  readonly #inFrame = (now: number): void => {
    if (now === lastFrame) {
      this.#frame = requestAnimationFrame(this.#inFrame);
      return;
    }
    lastFrame = now;
    this.#frame = undefined;
    this.#last = now;
    this.#tick += 1;
  };

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }
}
