/**
 * Estimates another machine's clock from its segments, which state when they were written to
 * the socket by that clock. The difference from their arrival is the clocks' offset plus the
 * transit time, and the smallest difference seen is nearest to the truth: a queue, a busy
 * thread and a lost packet only add to it. It converts the peer's moments to this machine's
 * clock, late by the network's minimum transit time.
 *
 * Clocks drift. The estimate rises at the largest possible drift until a segment gives a
 * better one: if clocks drift no faster, no moment is ever too early, and undelayed segments
 * are exact. If a clock jumps, for example after a suspend, the estimate follows when no
 * segment has confirmed it for some seconds.
 *
 * Pure; times in ms.
 */

/** The largest drift between two clocks: 100 ppm for each quartz. */
const MOST_DRIFT = 200e-6;
/** An estimate that is unconfirmed for one to two of these periods is wrong. */
const WINDOW_MS = 5000;

export class PeerClock {
  /** The offset to add to the peer's time, as of `#at`. */
  #offset = Infinity;
  #at = 0;
  /** The smallest difference in this period, and in the one before. */
  #least = Infinity;
  #leastBefore = Infinity;
  #windowEnds = -Infinity;

  /**
   * Converts to this machine's clock.
   * @param moment time on the peer's clock
   * @param putAt when the segment that states it was sent, by the same clock
   * @param arrivedAt by this machine's, ascending from call to call
   */
  own(moment: number, putAt: number, arrivedAt: number): number {
    const seen = arrivedAt - putAt;
    if (arrivedAt >= this.#windowEnds) {
      this.#leastBefore = this.#least;
      this.#least = Infinity;
      this.#windowEnds = arrivedAt + WINDOW_MS;
    }
    this.#least = Math.min(this.#least, seen);
    const risen = this.#offset + MOST_DRIFT * (arrivedAt - this.#at);
    const confirmed = Math.min(this.#least, this.#leastBefore);
    this.#offset = Math.max(confirmed, Math.min(seen, risen));
    this.#at = arrivedAt;
    return moment + this.#offset;
  }
}
