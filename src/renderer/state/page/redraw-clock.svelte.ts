import { pageTurns } from './frame-turns.ts';

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
  /** Whether it waits for its frame. */
  #due = false;
  #closed = false;

  /** @param interval minimum milliseconds between two ticks */
  constructor(interval: number) {
    this.#interval = interval;
  }

  get tick(): number {
    return this.#tick;
  }

  touch(): void {
    if (this.#closed || this.#timer !== undefined || this.#due) return;
    const pause = Math.max(0, this.#last + this.#interval - performance.now());
    this.#timer = setTimeout(() => this.#draw(), pause);
  }

  /** Ticks with the next frame, whenever the last tick was: somebody waits for this drawing. */
  soon(): void {
    if (!this.#closed && !this.#due) this.#draw();
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Hidden pages get no frames; the next one comes when the page is visible again.
    this.#due = true;
    pageTurns.take(this.#inFrame);
  }

  readonly #inFrame = (now: number): void => {
    this.#due = false;
    this.#last = now;
    this.#tick += 1;
  };

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    pageTurns.leave(this.#inFrame);
  }
}
