/**
 * Memory for segments, used again: thousands a second of tens of kilobytes each would keep
 * the garbage collector busier than the network. Blocks are all of one size.
 */
import { SEGMENT_HEADER_BYTES } from './segment.ts';

/** More of them are idle only after a burst. */
const MOST_FREE = 64;

export class SegmentMemory {
  /** The longest that a segment's bytes may be. */
  readonly segmentBytes: number;
  readonly #free: Buffer[] = [];

  constructor(segmentBytes: number) {
    this.segmentBytes = segmentBytes;
  }

  /** A block for a header and `segmentBytes`, holding anything. */
  take(): Buffer {
    const block = this.#free.pop();
    return block ?? Buffer.allocUnsafeSlow(SEGMENT_HEADER_BYTES + this.segmentBytes);
  }

  /** Nobody uses the block any more. */
  release(block: Buffer): void {
    if (this.#free.length < MOST_FREE) this.#free.push(block);
  }
}
