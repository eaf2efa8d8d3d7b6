/**
 * Moments finer than Node's timers, which know whole milliseconds. The last two before a
 * moment this thread spends in naps of a quarter, with a turn of the event loop after each,
 * so that sockets and messages get through; before those Node's timer waits.
 *
 * A nap ends some 90 µs late on Linux, and some 40 where the thread's timers may be as fine
 * as the system can make them (`fineTimers` of libc). With libc at hand naps end that much
 * early, and between the looks that are left whoever waits for the core has it.
 */
import type { CardTimer } from './emulated-card.ts';
import { machineClock } from './segment.ts';

const NEAR_MS = 2;
const NAP_MS = 0.25;
/** With libc: how late a nap may end. */
const LATE_MS = 0.05;

export class EventLoopTimer implements CardTimer {
  readonly #turn: () => void;
  readonly #pause: (() => void) | undefined;
  readonly #bed = new Int32Array(new SharedArrayBuffer(4));
  #due = Infinity;
  #immediate: NodeJS.Immediate | undefined;
  #timeout: NodeJS.Timeout | undefined;
  /** When the timeout fires. */
  #wakesAt = Infinity;

  /** @param pause lets others have the core; undefined: there is no such call */
  constructor(turn: () => void, pause?: () => void) {
    this.#turn = turn;
    this.#pause = pause;
  }

  now(): number {
    return machineClock();
  }

  set(due: number, refill: number): void {
    this.#due = due;
    // It is about to look for itself.
    if (this.#immediate !== undefined) return;
    const now = this.now();
    if (due - now < NEAR_MS || refill <= now) {
      this.#immediate = setImmediate(this.#look);
      return;
    }
    const wakesAt = Math.min(due - 1, refill);
    // Too early does no harm.
    if (wakesAt >= this.#wakesAt && wakesAt < Infinity) return;
    clearTimeout(this.#timeout);
    this.#wakesAt = wakesAt;
    if (wakesAt === Infinity) return;
    this.#timeout = setTimeout(this.#wake, Math.max(1, Math.floor(wakesAt - now)));
  }

  readonly #wake = (): void => {
    this.#wakesAt = Infinity;
    this.#turn();
  };

  readonly #look = (): void => {
    this.#immediate = undefined;
    const wait = this.#due - this.now();
    if (wait > 0 && wait < NEAR_MS) this.#doze(wait);
    this.#turn();
  };

  #doze(wait: number): void {
    const nap = this.#pause === undefined ? wait : wait - LATE_MS;
    if (nap > 0) Atomics.wait(this.#bed, 0, 0, Math.min(nap, NAP_MS));
    else this.#pause?.();
  }
}
