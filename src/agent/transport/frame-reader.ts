/**
 * Reads frames from a byte stream that is cut into chunks anywhere: a state machine that
 * keeps at most one header. Bodies are handed on piece by piece as they arrive, so that
 * the sink can store them in place without an intermediate copy.
 */
import {
  decodeFrameHeader,
  FRAME_HEADER_BYTES,
  type FrameHeader,
} from './message-frame.ts';

export interface FrameSink {
  /** A frame begins; `header.length` bytes of body follow in `body` calls. */
  begin(header: FrameHeader): void;
  /** The next piece of the body: a view of the chunk, valid during the call unless it
   * is kept, in which case it keeps the chunk alive. Never empty. */
  body(piece: Buffer): void;
  /** The whole body has been handed over. */
  end(): void;
  /**
   * The destination of the next bytes of the body, at most `missing` of them; undefined
   * if they must be handed over as pieces. A reader of sockets may write them there
   * itself.
   */
  room(missing: number): Uint8Array | undefined;
  /** The first `bytes` of that room hold the next bytes of the body. */
  filled(bytes: number): void;
}

/** Takes the bytes of a connection, in order. */
export interface ByteReader {
  /**
   * Memory into which the next bytes may be written directly, instead of being pushed.
   */
  room(): Uint8Array | undefined;
  /** The first `bytes` of the room have been filled. */
  filled(bytes: number): void;
  /** @throws GradwireError: nothing may be pushed after that. */
  push(chunk: Buffer): void;
}

export class FrameReader implements ByteReader {
  readonly #sink: FrameSink;
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #headerBytes = 0;
  /** Bytes of the current body still to come; 0 between frames. */
  #missing = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Whether a frame has begun but not ended. */
  get midFrame(): boolean {
    return this.#headerBytes > 0 || this.#missing > 0;
  }

  room(): Uint8Array | undefined {
    return this.#missing === 0 ? undefined : this.#sink.room(this.#missing);
  }

  filled(bytes: number): void {
    this.#sink.filled(bytes);
    this.#missing -= bytes;
    if (this.#missing === 0) this.#sink.end();
  }

  /** @throws GradwireError `FRAME_*`: nothing may be pushed after that. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#missing > 0) {
        const take = Math.min(this.#missing, chunk.length - offset);
        this.#sink.body(chunk.subarray(offset, offset + take));
        offset += take;
        this.#missing -= take;
        if (this.#missing === 0) this.#sink.end();
        continue;
      }
      const take = Math.min(
        FRAME_HEADER_BYTES - this.#headerBytes,
        chunk.length - offset,
      );
      chunk.copy(this.#header, this.#headerBytes, offset, offset + take);
      offset += take;
      this.#headerBytes += take;
      if (this.#headerBytes < FRAME_HEADER_BYTES) continue;
      this.#headerBytes = 0;
      const header = decodeFrameHeader(this.#header);
      this.#missing = header.length;
      this.#sink.begin(header);
      if (this.#missing === 0) this.#sink.end();
    }
  }
}
