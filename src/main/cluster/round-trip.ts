/** The round trip of a request to a supervisor, measured one at a time. */
import { GradwireError } from '../../shared/errors/errors.ts';
import type { ControlConnection } from './control-connection.ts';

/** Smaller changes of the round trip are not worth a push. */
const SAME_ROUND_TRIP = 0.1;

export class RoundTrip {
  #milliseconds: number | undefined;
  #isMeasuring = false;

  /** The round trip, ms; undefined until it was measured on the current connection. */
  get milliseconds(): number | undefined {
    return this.#milliseconds;
  }

  /** Forgets it: there is another connection. */
  reset(): void {
    this.#milliseconds = undefined;
  }

  /**
   * Measures it on a live connection.
   * @param isCurrent whether the connection is still the one in use
   * @returns whether it has changed enough to be told
   */
  async measure(
    connection: ControlConnection,
    isCurrent: () => boolean,
  ): Promise<boolean> {
    if (connection.readsOnly || this.#isMeasuring) return false;
    const began = performance.now();
    this.#isMeasuring = true;
    try {
      await connection.request('ping', {});
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      // An older supervisor's refusal took as long; a lost connection says so itself.
      if (error.code !== 'REQUEST_UNKNOWN') return false;
    } finally {
      this.#isMeasuring = false;
    }
    const taken = performance.now() - began;
    const before = this.#milliseconds;
    if (!isCurrent()) return false;
    this.#milliseconds = taken;
    return before === undefined || Math.abs(taken - before) > before * SAME_ROUND_TRIP;
  }
}
