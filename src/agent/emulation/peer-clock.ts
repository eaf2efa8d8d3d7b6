/**
 * A clock of another machine, as far as its messages reveal it: segments
 * that say, by that clock, when they were put to the socket. What lies between that and
 * their arrival is how far the clocks are apart and how long the segment took, and the least
 * that was seen is nearest to the truth: a queue, a busy thread and a lost packet only make
 * it more. So a moment of the peer becomes one of this machine, and later than it was by what
 * the network takes at least.
 *
 * Clocks drift. The estimate rises by as much as they may, until a segment says better: with
 * clocks that drift apart no faster no moment is ever before its time, and each that has
 * come undelayed has its time exactly. A clock that jumped, as that of a machine which was
 * suspended, is followed when no segment has confirmed the estimate for some seconds.
 *
 * Pure; times in ms.
 */

/** The most by which clocks drift apart: 100 millionths for each of two quartzes. */
const MOST_DRIFT = 200e-6;
/** What nothing has confirmed for one to two of these is wrong. */
const BUCKET_MS = 5000;

export class PeerClock {
  /** What to add to the peer's time, as it was at `#at`. */
  #offset = Infinity;
  #at = 0;
  /** The least that was seen in this bucket of time, and in the one before. */
  #least = Infinity;
  #leastBefore = Infinity;
  #bucketEnds = -Infinity;

  /**
   * When it was by this machine's clock.
   * @param moment of the peer's clock
   * @param putAt when the segment that says so was sent, by the same clock
   * @param arrivedAt by this machine's, ascending from call to call
   */
  own(moment: number, putAt: number, arrivedAt: number): number {
    const seen = arrivedAt - putAt;
    if (arrivedAt >= this.#bucketEnds) {
      this.#leastBefore = this.#least;
      this.#least = Infinity;
      this.#bucketEnds = arrivedAt + BUCKET_MS;
    }
    this.#least = Math.min(this.#least, seen);
    const risen = this.#offset + MOST_DRIFT * (arrivedAt - this.#at);
    const confirmed = Math.min(this.#least, this.#leastBefore);
    this.#offset = Math.max(confirmed, Math.min(seen, risen));
    this.#at = arrivedAt;
    return moment + this.#offset;
  }
}
