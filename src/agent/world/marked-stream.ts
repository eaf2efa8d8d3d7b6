/**
 * A stream of which others may have written the beginning: what a machine says to everybody,
 * what scripts print that run before ours. It begins behind the marker.
 */

/** Printed on a line of its own before the first report. */
export const MARKER = 'gradwire-reports-begin\n';

export class MarkedStream {
  #seen: Buffer | undefined = Buffer.alloc(0);

  /** What of a chunk lies behind the marker; empty where it has not come yet. */
  take(chunk: Buffer): Buffer {
    if (this.#seen === undefined) return chunk;
    const seen = Buffer.concat([this.#seen, chunk]);
    const at = seen.indexOf(MARKER);
    if (at >= 0) {
      this.#seen = undefined;
      return seen.subarray(at + MARKER.length);
    }
    // The beginning of a marker may be at its end.
    this.#seen = seen.subarray(Math.max(0, seen.length - MARKER.length));
    return Buffer.alloc(0);
  }
}
