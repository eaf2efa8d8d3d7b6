/**
 * Moves the bytes of native connections without waiting in system calls. While receives
 * are pending, turns of this loop try the sockets without blocking and poll again for a
 * moment (a sleeping thread wakes 40 to 80 µs late); then the thread returns to Node's
 * event loop, which reads when a socket is ready. Timers, messages and aborts get through
 * in between, and a peer that computes for long costs no core.
 *
 *     posted ──► tick ──► try, look again … ──► done: continuations run, next tick
 *                              │ nothing for `spinMs`
 *                              ▼
 *                         Node's event loop sleeps on the sockets
 *
 * Between polls the thread yields its core (`spin-pause.ts`).
 */
import type { SpinPause } from './spin-pause.ts';

/** Time for which a chain of ticks may block the event loop, ms. */
const CHAIN_MS = 1;

export interface Progressing {
  /** Whether a receive waits for this connection's bytes. */
  readonly awaited: boolean;
  /** Whether Node is still sending earlier data, for which its event loop must turn. */
  readonly flushing: boolean;
  /** Read what can be read at once. Returns whether any byte came. */
  progress(): boolean;
}

export class ProgressLoop {
  readonly #connections: Progressing[] = [];
  readonly #spinMs: number;
  readonly #pause: SpinPause;
  readonly #now: () => number;
  #scheduled = false;
  #completed = false;
  /** When the event loop last turned, as far as is known. */
  #turnedAt = 0;
  #spinUntil = 0;

  /**
   * @param spinMs how long to poll before sleeping; 0: not at all
   * @param now milliseconds, the clock of `pause`
   */
  constructor(
    spinMs: number,
    pause: SpinPause,
    now: () => number = () => performance.now(),
  ) {
    this.#spinMs = spinMs;
    this.#pause = pause;
    this.#now = now;
  }

  add(connection: Progressing): void {
    this.#connections.push(connection);
  }

  /** A receive has been posted: try it once the code that posted it has run on. */
  nudge(): void {
    const now = this.#now();
    this.#spinUntil = now + this.#spinMs;
    this.#schedule(now, false);
  }

  /** The event loop has just turned, since it made this call. */
  turned(): void {
    this.#turnedAt = this.#now();
    this.#completed = false;
  }

  /** A receive has ended: its continuation comes before any more bytes. */
  completed(): void {
    this.#completed = true;
  }

  get hasCompleted(): boolean {
    return this.#completed;
  }

  #schedule(now: number, turning: boolean): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A tick runs when the promises have, and costs next to nothing; but a chain of them
    // would starve everything else on this thread.
    if (turning || now - this.#turnedAt >= CHAIN_MS) setImmediate(this.#turnLate);
    else queueMicrotask(this.#tick);
  }

  /** A tick queued from a tick would run before promise continuations: hence the microtask. */
  readonly #tick = (): void => {
    process.nextTick(this.#turnSoon);
  };

  readonly #turnSoon = (): void => {
    this.#turn(this.#now());
  };

  readonly #turnLate = (): void => {
    this.turned();
    this.#turn(this.#turnedAt);
  };

  #turn(begun: number): void {
    this.#scheduled = false;
    this.#completed = false;
    for (;;) {
      let moved = false;
      let awaited = false;
      let flushing = false;
      for (const connection of this.#connections) {
        if (connection.awaited) moved = connection.progress() || moved;
        awaited ||= connection.awaited;
        flushing ||= connection.flushing;
      }
      const now = this.#now();
      if (moved) {
        this.#spinUntil = now + this.#spinMs;
        this.#pause.moved(now);
      }
      if (!awaited || now >= this.#spinUntil) return;
      const turning = flushing || now - begun >= CHAIN_MS;
      if (this.#completed || turning) {
        this.#schedule(now, turning);
        return;
      }
      if (!moved) this.#pause.pause(now);
    }
  }
}
