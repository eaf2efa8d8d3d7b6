/**
 * Reads sealed frames from a byte stream that is cut anywhere, as `frame-reader.ts` reads
 * plain ones. It keeps one record, at most a chunk, until its tag has been checked;
 * nothing that fails to decrypt reaches the sink.
 */
import { failure } from '../../shared/errors/errors.ts';
import type { ConnectionKeys } from './connection-keys.ts';
import { FrameReader, type ByteReader, type FrameSink } from './frame-reader.ts';
import {
  CHUNK_BYTES,
  FrameOpener,
  SEALED_HEADER_BYTES,
  TAG_BYTES,
} from './frame-seal.ts';
import { decodeFrameHeader } from './message-frame.ts';

export class SealedReader implements ByteReader {
  readonly #sink: FrameSink;
  readonly #opener: FrameOpener;
  readonly #peer: number;
  /** The record that is arriving; as large as the largest so far. */
  #record = Buffer.allocUnsafeSlow(SEALED_HEADER_BYTES);
  #recordBytes = 0;
  /** The record's length. */
  #expected = SEALED_HEADER_BYTES;
  /** Bytes of the current body still to come, without tags; 0 between frames. */
  #missing = 0;

  /** @param peer whose bytes they are, for messages */
  constructor(sink: FrameSink, opener: FrameOpener, peer: number) {
    this.#sink = sink;
    this.#opener = opener;
    this.#peer = peer;
  }

  room(): Uint8Array | undefined {
    if (this.#missing === 0) return undefined;
    return this.#record.subarray(this.#recordBytes, this.#expected);
  }

  filled(bytes: number): void {
    this.#recordBytes += bytes;
    if (this.#recordBytes === this.#expected) this.#complete(this.#record);
  }

  /** @throws GradwireError `PEER_TAMPERED`, `FRAME_*`: nothing may be pushed after it. */
  push(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      const missing = this.#expected - this.#recordBytes;
      if (this.#recordBytes === 0 && chunk.length - offset >= missing) {
        this.#complete(chunk.subarray(offset, offset + missing));
        offset += missing;
        continue;
      }
      const take = Math.min(missing, chunk.length - offset);
      chunk.copy(this.#record, this.#recordBytes, offset, offset + take);
      offset += take;
      this.filled(take);
    }
  }

  #complete(bytes: Buffer): void {
    const record = bytes.subarray(0, this.#expected);
    this.#recordBytes = 0;
    if (this.#missing === 0) {
      if (!this.#opener.header(record)) throw this.#tampered();
      const header = decodeFrameHeader(record);
      this.#missing = header.length;
      this.#sink.begin(header);
    } else {
      const plain = this.#opener.chunk(record);
      if (plain === undefined) throw this.#tampered();
      this.#missing -= plain.length;
      this.#sink.body(plain);
    }
    this.#expected =
      this.#missing === 0
        ? SEALED_HEADER_BYTES
        : Math.min(this.#missing, CHUNK_BYTES) + TAG_BYTES;
    if (this.#expected > this.#record.length) {
      this.#record = Buffer.allocUnsafeSlow(this.#expected);
    }
    if (this.#missing === 0) this.#sink.end();
  }

  #tampered(): Error {
    return failure(
      'PEER_TAMPERED',
      `data from rank ${this.#peer} was changed on the way`,
      {
        rank: this.#peer,
        next: 'Something between the two machines changes their messages. Do not trust that network.',
      },
    );
  }
}

/** The reader for the frames of a connection with these keys, or for plain ones. */
export function readerFor(
  keys: ConnectionKeys | undefined,
  sink: FrameSink,
  peer: number,
): ByteReader {
  return keys === undefined
    ? new FrameReader(sink)
    : new SealedReader(sink, new FrameOpener(keys.receive), peer);
}
