/** Timings of one link, from timed messages: the data plane between two machines. */

export interface LinkTiming {
  /** s per message, one way: half a round trip of 8 bytes. */
  readonly alpha: number;
  /** s per byte of a stream, from the first end to the second. */
  readonly there: number;
  /** s per byte of a stream, from the second end to the first. */
  readonly back: number;
}
