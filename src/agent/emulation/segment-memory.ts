/**
 * Reusable memory for segments: thousands per second of tens of kilobytes each would keep
 * the garbage collector busier than the network. All blocks have the same size.
 */
import { SEGMENT_HEADER_BYTES } from './segment.ts';

/** Limit of idle blocks; more are idle only after a burst. */
const MOST_FREE = 64;

export class SegmentMemory {
  /** The longest that a segment's bytes may be. */
  readonly segmentBytes: number;
  readonly #free: Buffer[] = [];

  constructor(segmentBytes: number) {
    this.segmentBytes = segmentBytes;
  }

  /** A block for a header and `segmentBytes`, with arbitrary contents. */
  take(): Buffer {
    const block = this.#free.pop();
    return block ?? Buffer.allocUnsafeSlow(SEGMENT_HEADER_BYTES + this.segmentBytes);
  }

  /** Returns a block that is no longer used. */
  release(block: Buffer): void {
    if (this.#free.length < MOST_FREE) this.#free.push(block);
  }
}
