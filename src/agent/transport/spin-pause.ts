/**
 * A pause between two polls of a thread's sockets: the thread yields its core, because the waiting
 * thread may be the rank it is waiting for. Ranks that share one core while others are idle (the
 * scheduler tends to wake a thread where its waker runs) would keep alternating on it, at three
 * times the latency. So a thread that is displaced before most of its messages occasionally moves
 * to the core of its place, and is then left to the scheduler again.
 */
import type { Libc } from './libc.ts';

/** A yield that takes longer has let something else run, ms. */
const DISPLACED_MS = 0.003;
/** The number of consecutive messages that came while something else ran. */
const CAUGHT = 8;
/** The least time between moves, each of which costs some 20 µs. */
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
   * @param place position of this rank among those of its node; undefined: more ranks
   * than cores
   * @param now milliseconds, on the same clock as in the calls below
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

  /** Yields the core to another thread, because nothing has come. */
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
