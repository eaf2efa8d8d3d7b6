/**
 * Moments finer than Node's timers, which know whole milliseconds, for the cards of one
 * thread. The last two before a moment this thread spends in naps of a quarter, with a turn of
 * the event loop after each, so that sockets and messages get through; before those Node's
 * timer waits.
 *
 * A nap ends some 90 µs late on Linux, and some 40 where the thread's timers may be as fine
 * as the system can make them (`fineTimers` of libc). With libc at hand naps end that much
 * early, and between the remaining polls other threads have the core.
 */
import type { CardTimer } from './emulated-card.ts';
import { machineClock } from './segment.ts';

const NEAR_MS = 2;
const NAP_MS = 0.25;
/** With libc: how late a nap may end. */
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
  /** The cards have their turns: what they want next is looked at when all have had one. */
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

  /** For one card, which gets a turn whenever any of them has one: it looks what is due. */
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
    // It is about to look for itself.
    if (this.#immediate !== undefined) return;
    const now = machineClock();
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
