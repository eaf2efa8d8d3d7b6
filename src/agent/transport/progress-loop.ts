/**
 * Who moves the bytes of native connections: nobody waits in a system call. While
 * operations are pending, turns of this loop try the sockets without blocking and look
 * again for a moment (a sleeping thread wakes 40 to 80 µs late); then the thread goes back
 * to Node's event loop, which calls when a socket is ready. Timers, messages and aborts
 * get through in between, and a peer that computes for long costs no core.
 *
 *     posted ──► tick ──► try, look again … ──► done: continuations run, next tick
 *                              │ nothing for `spinMs`
 *                              ▼
 *                         event loop sleeps on the sockets ──► ready ──► turn
 *
 * Where a node has fewer cores than ranks nothing is looked at twice: the core belongs to
 * the rank that is waited for.
 */

import type { SpinPause } from './spin-pause.ts';

/** How long a chain of ticks may keep the event loop from turning, ms. */
const CHAIN_MS = 1;

export interface Progressing {
  /** Whether an operation waits for this connection's bytes to move. */
  readonly awaited: boolean;
  /** Move what can be moved at once. Returns whether any byte did. */
  progress(): boolean;
  /** The thread goes back to the event loop: have it watch for what is needed. */
  rest(): void;
}

export class ProgressLoop {
  readonly #connections: Progressing[] = [];
  readonly #spinMs: number;
  readonly #pause: SpinPause;
  #scheduled = false;
  #completed = false;
  /** When a turn last came from the event loop. */
  #turnedAt = 0;
  #spinUntil = 0;

  /** @param spinMs how long to look again before sleeping; 0: not at all */
  constructor(spinMs: number, pause: SpinPause) {
    this.#spinMs = spinMs;
    this.#pause = pause;
  }

  add(connection: Progressing): void {
    this.#connections.push(connection);
  }

  /** An operation has been posted: try it once the code that posted it has run on. */
  nudge(): void {
    const now = performance.now();
    this.#spinUntil = now + this.#spinMs;
    this.#schedule(now);
  }

  /**
   * A socket is ready, says the event loop, or something must be tried from outside of
   * any scope of Node's.
   */
  wake(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#turnAll);
  }

  /** An operation has ended: its continuation comes before any more bytes. */
  completed(): void {
    this.#completed = true;
  }

  get hasCompleted(): boolean {
    return this.#completed;
  }

  #schedule(now: number): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // A tick runs when the promises have, and costs next to nothing; but a chain of them
    // would starve everything else on this thread.
    if (now - this.#turnedAt < CHAIN_MS) queueMicrotask(this.#tick);
    else setImmediate(this.#turnAll);
  }

  /** Of two ticks the second runs before the promises of the first: of microtasks not. */
  readonly #tick = (): void => {
    process.nextTick(this.#turnAwaited);
  };

  readonly #turnAwaited = (): void => {
    this.#turn(false, performance.now());
  };

  readonly #turnAll = (): void => {
    const now = performance.now();
    this.#turnedAt = now;
    this.#turn(true, now);
  };

  #turn(all: boolean, begun: number): void {
    this.#scheduled = false;
    this.#completed = false;
    let every = all;
    for (;;) {
      let moved = false;
      let awaited = false;
      for (const connection of this.#connections) {
        if (every || connection.awaited) moved = connection.progress() || moved;
        awaited ||= connection.awaited;
      }
      every = false;
      const now = performance.now();
      if (moved) {
        this.#spinUntil = now + this.#spinMs;
        this.#pause.moved(now);
      }
      if (!awaited || now >= this.#spinUntil) break;
      if (this.#completed || now - begun >= CHAIN_MS) {
        this.#schedule(now);
        return;
      }
      if (!moved) this.#pause.pause(now);
    }
    for (const connection of this.#connections) connection.rest();
  }
}
