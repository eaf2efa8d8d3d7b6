/**
 * Reads segments from a byte stream cut at any place: a state machine that keeps one header
 * and the arriving segment. Takes bytes as the transport's `ByteReader` does.
 */
import type { SegmentMemory } from './segment-memory.ts';
import {
  decodeSegmentHeader,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './segment.ts';

/** A received segment; the caller owns and releases its block. */
export interface Arrived {
  /** When its last byte left the sender, ms, by this machine's clock. */
  readonly leftAt: number;
  readonly block: Buffer;
  /** The first bytes of the block, this many. */
  readonly bytes: number;
}

export class SegmentReader {
  readonly #memory: SegmentMemory;
  readonly #arrived: (segment: Arrived) => void;
  readonly #leftAtOf: (header: SegmentHeader) => number;
  readonly #head = Buffer.alloc(SEGMENT_HEADER_BYTES);
  #headBytes = 0;
  #leftAt = 0;
  /** Block of the segment being read; undefined between segments. */
  #block: Buffer | undefined;
  #bytes = 0;
  #filled = 0;

  /**
   * @param leftAtOf called as soon as a header has arrived; default: the header's
   * moment
   */
  constructor(
    memory: SegmentMemory,
    arrived: (segment: Arrived) => void,
    leftAtOf: (header: SegmentHeader) => number = ({ leftAt }) => leftAt,
  ) {
    this.#memory = memory;
    this.#arrived = arrived;
    this.#leftAtOf = leftAtOf;
  }

  /** Memory into which the next bytes may be read directly, instead of being pushed. */
  room(): Uint8Array | undefined {
    return this.#block?.subarray(this.#filled, this.#bytes);
  }

  filled(bytes: number): void {
    this.#filled += bytes;
    if (this.#filled < this.#bytes) return;
    const block = this.#block!;
    this.#block = undefined;
    this.#arrived({ leftAt: this.#leftAt, block, bytes: this.#bytes });
  }

  /** @throws GradwireError `LINK_NOT_EMULATED` */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#block !== undefined) {
        const taken = chunk.copy(
          this.#block,
          this.#filled,
          offset,
          offset + this.#bytes - this.#filled,
        );
        offset += taken;
        this.filled(taken);
        continue;
      }
      const taken = chunk.copy(this.#head, this.#headBytes, offset);
      offset += taken;
      this.#headBytes += taken;
      if (this.#headBytes < SEGMENT_HEADER_BYTES) continue;
      this.#headBytes = 0;
      const header = decodeSegmentHeader(this.#head, this.#memory.segmentBytes);
      this.#leftAt = this.#leftAtOf(header);
      this.#bytes = header.length;
      this.#filled = 0;
      this.#block = this.#memory.take();
    }
  }
}
