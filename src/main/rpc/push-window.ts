/**
 * Flow control of pushes to one renderer. A renderer answers every push it has taken;
 * what it has not answered is in flight, counted in records (one record is about half a
 * kilobyte of JSON, so the limit is about 8 MiB). Beyond the limit pushes are left out,
 * and when everything in flight has been answered the renderer is asked once to read
 * again what it shows. So memory is bounded, whatever the renderer does, and nothing is
 * lost for good: the store has all of it.
 */
export const MAX_RECORDS_IN_FLIGHT = 16_384;

export class PushWindow {
  #inFlight = 0;
  #leftOut = false;
  readonly #resync: () => void;

  /** @param resync called when the window has drained after pushes were left out */
  constructor(resync: () => void) {
    this.#resync = resync;
  }

  /** Whether a push of this many records may go. If so, answer with `taken`. */
  admit(records: number): boolean {
    if (this.#leftOut || this.#inFlight + records > MAX_RECORDS_IN_FLIGHT) {
      // A single push beyond the limit still goes when nothing is before it.
      if (this.#leftOut || this.#inFlight > 0) {
        this.#leftOut = true;
        return false;
      }
    }
    this.#inFlight += records;
    return true;
  }

  taken(records: number): void {
    this.#inFlight -= records;
    if (this.#inFlight < 0) throw new Error('internal: more pushes taken than sent');
    if (this.#inFlight === 0 && this.#leftOut) {
      this.#leftOut = false;
      this.#resync();
    }
  }
}
