/**
 * Flow control of pushes to one renderer. A renderer answers every push that it has
 * processed; unanswered pushes are in flight, counted in records (one record is about
 * half a kilobyte of JSON, so the limit is about 8 MiB). Beyond the limit pushes are
 * dropped, and once everything in flight has been answered the renderer is asked to
 * read again what it shows. So memory is bounded whatever the renderer does, and
 * nothing is lost: the store has everything that goes through here.
 */
export const MAX_RECORDS_IN_FLIGHT = 16_384;

export class PushWindow {
  #inFlight = 0;
  #leftOut = false;
  readonly #resync: () => void;

  /** @param resync called when the window has drained after pushes were dropped */
  constructor(resync: () => void) {
    this.#resync = resync;
  }

  /**
   * Whether a push of this many records may be sent. If so, call `taken` when it is
   * answered.
   */
  admit(records: number): boolean {
    if (this.#leftOut || this.#inFlight + records > MAX_RECORDS_IN_FLIGHT) {
      // A single push beyond the limit is still sent if nothing is in flight.
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
