/**
 * A gzipped file, unpacked piece by piece, to its last byte. Parts may follow each other, and
 * zeros may pad the end, as a tape's blocks do. Behind zeros zlib would leave out another part
 * without a word, so that is refused.
 */
import { Gunzip } from 'minizlib';
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';

/** Unpacked, a piece may be a thousand times as long. */
export const GZIPPED_PIECE_BYTES = 1 << 14;

export const isGzip = (head: Uint8Array): boolean =>
  head[0] === 0x1f && head[1] === 0x8b;

export class GzipReader {
  // Node's own streams deliver nothing until the caller waits.
  readonly #gunzip = new Gunzip({});
  readonly #file: string;
  readonly #ready: Buffer[] = [];
  #fault: Error | undefined;
  #position = 0;
  #isPadding = false;

  /** @param file its name, for errors */
  constructor(file: string) {
    this.#file = file;
    this.#gunzip.on('error', (error) => (this.#fault = error as Error));
    this.#gunzip.on('data', (chunk) => this.#ready.push(chunk));
  }

  /**
   * Yields what `piece`, the next bytes of the file, unpacks to.
   * @throws zlib's error, with a code; GradwireError `DATA_FILE_UNREADABLE`
   */
  *read(piece: Buffer): Generator<Buffer> {
    let used = 0;
    if (!this.#isPadding) {
      this.#gunzip.write(piece);
      yield* this.#taken();
      // Only zeros behind the end of a part stop it.
      used = this.#gunzip.handle?.bytesWritten ?? piece.length;
      this.#isPadding = used < piece.length;
    }
    if (this.#isPadding) {
      const other = piece.findIndex((byte, at) => at >= used && byte !== 0);
      if (other >= 0) throw behindPadding(this.#file, this.#position + other);
    }
    this.#position += piece.length;
  }

  /** @throws as `read`, if the file ends within a part */
  *end(): Generator<Buffer> {
    this.#gunzip.end();
    yield* this.#taken();
  }

  #taken(): readonly Buffer[] {
    if (this.#fault !== undefined) throw this.#fault;
    return this.#ready.splice(0);
  }
}

const behindPadding = (file: string, position: number): GradwireError =>
  inputError(
    'DATA_FILE_UNREADABLE',
    `${file}: byte ${position} is not 0, but zeros end the gzipped data before it`,
    { place: file, next: 'Remove the zeros between its parts, or what follows them.' },
  );
