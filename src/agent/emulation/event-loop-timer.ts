/**
 * A timer for the cards of one thread, finer than Node's whole milliseconds. Node's timer
 * waits until two milliseconds before a moment; then this thread takes naps of a quarter of a
 * millisecond, with a turn of the event loop after each, so that sockets and messages get
 * through.
 *
 * A nap ends about 90 µs late on Linux, or about 40 µs with the finest thread timers
 * (`fineTimers` of libc). With libc, naps are that much shorter, and other threads get the
 * core between the remaining polls.
 */
import type { CardTimer } from './emulated-card.ts';
import { machineClock } from './segment.ts';

const NEAR_MS = 2;
const NAP_MS = 0.25;
/** Time by which a nap may end late, with libc. */
const LATE_MS = 0.05;

interface Appointment {
  readonly turn: () => void;
  due: number;
  refill: number;
}

export class EventLoopTimer {
  readonly #pause: (() => void) | undefined;
  readonly #bed = new Int32Array(new SharedArrayBuffer(4));
  readonly #appointments: Appointment[] = [];
  /** The cards are having their turns; their next moments are collected afterwards. */
  #turning = false;
  #due = Infinity;
  #immediate: NodeJS.Immediate | undefined;
  #timeout: NodeJS.Timeout | undefined;
  /** When the timeout fires. */
  #wakesAt = Infinity;

  /** @param pause yields the core; undefined if there is no such call */
  constructor(pause?: () => void) {
    this.#pause = pause;
  }

  /**
   * Makes a timer for one card, which gets a turn whenever any card does, and checks what is due.
   */
  appointment(turn: () => void): CardTimer {
    const appointment: Appointment = { turn, due: Infinity, refill: Infinity };
    this.#appointments.push(appointment);
    return {
      now: machineClock,
      set: (due, refill) => {
        appointment.due = due;
        appointment.refill = refill;
        if (!this.#turning) this.#arrange();
      },
    };
  }

  #arrange(): void {
    let due = Infinity;
    let refill = Infinity;
    for (const appointment of this.#appointments) {
      due = Math.min(due, appointment.due);
      refill = Math.min(refill, appointment.refill);
    }
    this.#due = due;
    // It is about to check by itself.
    if (this.#immediate !== undefined) return;
    const now = machineClock();
    if (due - now < NEAR_MS || refill <= now) {
      this.#immediate = setImmediate(this.#look);
      return;
    }
    const wakesAt = Math.min(due - 1, refill);
    // A turn that is too early does no harm.
    if (wakesAt >= this.#wakesAt && wakesAt < Infinity) return;
    clearTimeout(this.#timeout);
    this.#wakesAt = wakesAt;
    if (wakesAt === Infinity) return;
    this.#timeout = setTimeout(this.#wake, Math.max(1, Math.floor(wakesAt - now)));
  }

  #turn(): void {
    this.#turning = true;
    for (const { turn } of this.#appointments) turn();
    this.#turning = false;
    this.#arrange();
  }

  readonly #wake = (): void => {
    this.#wakesAt = Infinity;
    this.#turn();
  };

  readonly #look = (): void => {
    this.#immediate = undefined;
    const wait = this.#due - machineClock();
    if (wait > 0 && wait < NEAR_MS) this.#doze(wait);
    this.#turn();
  };

  #doze(wait: number): void {
    const nap = this.#pause === undefined ? wait : wait - LATE_MS;
    if (nap > 0) Atomics.wait(this.#bed, 0, 0, Math.min(nap, NAP_MS));
    else this.#pause?.();
  }
}
