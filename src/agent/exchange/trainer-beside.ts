/** The trainer beside an exchange in progress: how much it has computed, and whether it waits. */
import type { PhaseClock } from '../profile/phase-clock.ts';
import { Readiness } from './readiness.ts';

export class TrainerBeside {
  readonly #clock: PhaseClock;
  #current: { iteration: number; readiness: Readiness; isExposed: boolean } | undefined;

  constructor(clock: PhaseClock) {
    this.#clock = clock;
  }

  /** Whether something runs beside the exchange in progress. */
  get isThere(): boolean {
    return this.#current !== undefined;
  }

  /** Whether it still computes, as far as its messages have arrived. */
  get isComputing(): boolean {
    return this.#current?.isExposed === false;
  }

  /** Begins an exchange beside the trainer. Returns how much of its gradient is ready. */
  begin(iteration: number): Readiness {
    const readiness = new Readiness();
    this.#current = { iteration, readiness, isExposed: false };
    return readiness;
  }

  /** Ends the exchange, whether or not anything ran beside it. */
  end(): void {
    this.#current = undefined;
  }

  /**
   * Marks all elements from this one on as ready, in an exchange that began before its
   * gradient was computed.
   */
  advance(iteration: number, from: number): void {
    if (this.#current?.iteration === iteration) this.#current.readiness.advance(from);
  }

  /**
   * The trainer has finished its work during this exchange and waits from this moment.
   * @param moment on this thread's clock
   */
  exposed(iteration: number, moment: number): void {
    if (this.#current?.iteration !== iteration) return;
    this.#current.isExposed = true;
    this.#clock.hideUntil(moment);
  }

  /** Takes its messages that are still on their way, at the end of an exchange. */
  async hear(): Promise<void> {
    await new Promise(setImmediate);
    // The exchange ended before the trainer did.
    if (this.isComputing) this.#clock.hideUntil(Infinity);
  }
}
