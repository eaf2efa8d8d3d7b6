/**
 * What a thread does between two polls of its sockets: it lets other threads that wait for the core
 * have it, for that may be the very rank that it waits for. Ranks that are caught on one
 * core while others are free (the scheduler likes to wake a thread where its waker runs)
 * would take turns on it for good, at three times the latency: so a thread that is
 * displaced before most of its messages moves to the core of its place, once in a while,
 * and is then left to the scheduler again.
 */
import type { Libc } from './libc.ts';

/** A yield that took longer has let something else run, ms. */
const DISPLACED_MS = 0.003;
/** Messages in a row that came while something else ran. */
const CAUGHT = 8;
/** Moves are at least so far apart: each costs some 20 µs. */
const REST_MS = 10;

export class SpinPause {
  readonly #libc: Libc;
  readonly #place: number | undefined;
  readonly #now: () => number;
  /** Whether anything else ran since the last bytes; undefined if there was no pause. */
  #since: 'displaced' | 'alone' | undefined;
  #caught = 0;
  #movedAt = 0;

  /**
   * @param place of this rank among those of its node; undefined: more than cores
   * @param now milliseconds, as those that the calls below are given
   */
  constructor(
    libc: Libc,
    place: number | undefined,
    now: () => number = () => performance.now(),
  ) {
    this.#libc = libc;
    this.#place = place;
    this.#now = now;
  }

  /** Nothing has come: somebody else may have the core. */
  pause(now: number): void {
    this.#libc.yield();
    const displaced = this.#now() - now > DISPLACED_MS;
    if (this.#since !== 'displaced') this.#since = displaced ? 'displaced' : 'alone';
  }

  /** Bytes have come. */
  moved(now: number): void {
    const since = this.#since;
    this.#since = undefined;
    if (this.#place === undefined || since === undefined) return;
    this.#caught = since === 'displaced' ? this.#caught + 1 : 0;
    if (this.#caught < CAUGHT || now - this.#movedAt < REST_MS) return;
    this.#libc.moveToCore(this.#place);
    this.#caught = 0;
    this.#movedAt = now;
  }
}
