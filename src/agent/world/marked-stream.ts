/**
 * A stream that others may have written to first, such as a machine's greeting or earlier
 * scripts. Reading starts after the marker.
 */

/** Line before the first report. */
export const MARKER = 'gradwire-reports-begin\n';

export class MarkedStream {
  #seen: Buffer | undefined = Buffer.alloc(0);

  /** The part of a chunk after the marker; empty if the marker has not come yet. */
  take(chunk: Buffer): Buffer {
    if (this.#seen === undefined) return chunk;
    const seen = Buffer.concat([this.#seen, chunk]);
    const at = seen.indexOf(MARKER);
    if (at >= 0) {
      this.#seen = undefined;
      return seen.subarray(at + MARKER.length);
    }
    // Its end may hold the beginning of a marker.
    this.#seen = seen.subarray(Math.max(0, seen.length - MARKER.length));
    return Buffer.alloc(0);
  }
}
