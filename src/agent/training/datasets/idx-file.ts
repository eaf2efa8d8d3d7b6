/**
 * IDX, the format of MNIST's files: a magic number (two zero bytes, the value type, the
 * number of dimensions), each dimension as a big-endian u32, then the values, the last
 * dimension running fastest (yann.lecun.com/exdb/mnist). Only unsigned bytes (type
 * 0x08) are read. Files may be gzipped, whatever their names.
 *
 * Values pass through in pieces and are never in memory as a whole: a rank that keeps a
 * quarter of a set needs memory for a quarter. A file is checked to its last byte.
 */
import {
  closeSync,
  createReadStream,
  fstatSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { constants, gunzipSync } from 'node:zlib';
import type { ErrorCode } from '../../../shared/codes/error-code.ts';
import { GradwireError, inputError } from '../../../shared/errors/errors.ts';
import { GZIPPED_PIECE_BYTES, GzipReader, isGzip } from './gzip-reader.ts';

const bytesType = 0x08;
const headBytes = 4096;

export interface IdxHeader {
  /** Sizes, for instance [10000, 28, 28]. */
  readonly dimensions: readonly number[];
  /** Bytes before the first value. */
  readonly headerBytes: number;
  /** Product of the dimensions: bytes that must follow. */
  readonly valueBytes: number;
}

/** A file's expected dimensions; undefined if any size is allowed. */
export interface IdxExpectation {
  /** Name of the values, for messages: "images", "labels". */
  readonly what: string;
  readonly dimensions: readonly (number | undefined)[];
}

/** A piece of the values; `position` is the offset of its first byte among them. */
export type IdxVisitor = (piece: Uint8Array, position: number) => void;

/**
 * The header alone, at once, and whether the file's size fits; of a gzipped file only whether it
 * can fit.
 * @throws GradwireError as `readIdx`.
 */
export function readIdxHeader(file: string, expected: IdxExpectation): IdxHeader {
  const reader = new IdxReader(file, expected, undefined);
  const { head, size } = readHead(file);
  checkGzipName(file, head);
  if (!isGzip(head)) {
    reader.read(head);
    const header = reader.header();
    reader.checkSize(size - header.headerBytes);
    return header;
  }
  try {
    // Z_SYNC_FLUSH decompresses what is there of a stream that was cut anywhere.
    reader.read(gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH }));
  } catch (error) {
    throw explainReadError(error, file, reader.offset);
  }
  const header = reader.header();
  const most = MOST_INFLATION * size;
  if (header.valueBytes > most) reader.checkSize(most);
  return header;
}

/** Deflate makes 1,032 bytes of one at most. */
const MOST_INFLATION = 1032;

/**
 * Reads a whole file and hands its values to `visit` in order.
 * @throws GradwireError `DATA_FILE_MISSING`, `DATA_FILE_UNREADABLE`, `DATA_WRONG_MAGIC`,
 * `DATA_FILE_TRUNCATED`, `DATA_FILE_CORRUPT`, `DATA_TRAILING_BYTES`, `DATA_MISMATCH`:
 * the file, the offset and what was expected there.
 */
export async function readIdx(
  file: string,
  expected: IdxExpectation,
  visit: IdxVisitor,
): Promise<IdxHeader> {
  const { head } = readHead(file);
  checkGzipName(file, head);
  const reader = new IdxReader(file, expected, visit);
  await consume(file, isGzip(head), reader);
  const header = reader.header();
  reader.checkSize(reader.values);
  return header;
}

const next = 'Fetch the file again, or point workload.data at another directory.';

/** The state of one pass over a file. */
class IdxReader {
  readonly #file: string;
  readonly #expected: IdxExpectation;
  readonly #visit: IdxVisitor | undefined;
  readonly #head: Uint8Array;
  #headBytes = 0;
  #header: IdxHeader | undefined;
  /** Bytes of values seen. */
  values = 0;

  constructor(file: string, expected: IdxExpectation, visit: IdxVisitor | undefined) {
    this.#file = file;
    this.#expected = expected;
    this.#visit = visit;
    this.#head = new Uint8Array(4 + 4 * expected.dimensions.length);
  }

  /** Bytes of the file, uncompressed, seen so far. */
  get offset(): number {
    return this.#headBytes + this.values;
  }

  /** The next piece of the file, uncompressed. */
  read(piece: Uint8Array): void {
    let rest = piece;
    if (this.#header === undefined) {
      const taken = Math.min(rest.length, this.#head.length - this.#headBytes);
      this.#head.set(rest.subarray(0, taken), this.#headBytes);
      this.#headBytes += taken;
      if (this.#headBytes >= 4) this.#checkMagic();
      if (this.#headBytes < this.#head.length) return;
      this.#header = this.#parse();
      rest = rest.subarray(taken);
    }
    // Excess bytes are counted for the message but not passed on.
    const wanted = Math.max(0, this.#header.valueBytes - this.values);
    if (this.#visit !== undefined && wanted > 0 && rest.length > 0) {
      this.#visit(rest.length > wanted ? rest.subarray(0, wanted) : rest, this.values);
    }
    this.values += rest.length;
  }

  header(): IdxHeader {
    if (this.#header === undefined) {
      throw this.#error(
        'DATA_FILE_TRUNCATED',
        `ends at byte ${this.offset}, inside its header of ${this.#head.length} bytes`,
      );
    }
    return this.#header;
  }

  /** Whether `valueBytes` is what the header announced. */
  checkSize(valueBytes: number): void {
    const { headerBytes, valueBytes: announced, dimensions } = this.header();
    const end = headerBytes + announced;
    const shape = dimensions.join('×');
    if (valueBytes < announced) {
      throw this.#error(
        'DATA_FILE_TRUNCATED',
        `ends at byte ${headerBytes + valueBytes}, but its header announces ${shape} ` +
          `values, which end at byte ${end}`,
      );
    }
    if (valueBytes > announced) {
      throw this.#error(
        'DATA_TRAILING_BYTES',
        `has more bytes after byte ${end}, where the ${shape} values of its header end`,
      );
    }
  }

  #checkMagic(): void {
    const found = [...this.#head.subarray(0, 4)];
    const wanted = [0, 0, bytesType, this.#expected.dimensions.length];
    if (found.every((byte, i) => byte === wanted[i])) return;
    throw this.#error(
      'DATA_WRONG_MAGIC',
      `has ${hex(found)} at byte 0, expected ${hex(wanted)} (IDX ` +
        `${this.#expected.what}: unsigned bytes, ${wanted[3]} dimension` +
        `${wanted[3] === 1 ? '' : 's'})`,
    );
  }

  #parse(): IdxHeader {
    const view = new DataView(this.#head.buffer);
    const dimensions = this.#expected.dimensions.map((wanted, i) => {
      const size = view.getUint32(4 + 4 * i);
      if (wanted !== undefined && size !== wanted) {
        throw this.#error(
          'DATA_MISMATCH',
          `has size ${size} in dimension ${i} at byte ${4 + 4 * i}, expected ${wanted}`,
        );
      }
      return size;
    });
    return {
      dimensions,
      headerBytes: this.#head.length,
      valueBytes: dimensions.reduce((product, size) => product * size, 1),
    };
  }

  #error(code: ErrorCode, what: string): GradwireError {
    return inputError(code, `${this.#file} ${what}`, { place: this.#file, next });
  }
}

/** Feeds a file through the reader to its end. */
async function consume(
  file: string,
  compressed: boolean,
  reader: IdxReader,
): Promise<void> {
  try {
    if (compressed) await unzip(file, reader);
    else for await (const piece of createReadStream(file)) reader.read(piece as Buffer);
  } catch (error) {
    throw explainReadError(error, file, reader.offset);
  }
}

async function unzip(file: string, reader: IdxReader): Promise<void> {
  const gzip = new GzipReader(file);
  const source = createReadStream(file, { highWaterMark: GZIPPED_PIECE_BYTES });
  for await (const packed of source) {
    for (const piece of gzip.read(packed as Buffer)) reader.read(piece);
  }
  for (const piece of gzip.end()) reader.read(piece);
}

function explainReadError(error: unknown, file: string, offset: number): unknown {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const at = `after byte ${offset} of its contents`;
  if (code === 'Z_BUF_ERROR') {
    return inputError(
      'DATA_FILE_TRUNCATED',
      `${file} ends in the middle of its gzip stream, ${at}`,
      { place: file, next },
    );
  }
  if (code?.startsWith('Z_')) {
    return inputError(
      'DATA_FILE_CORRUPT',
      `${file} is a damaged gzip file (${(error as Error).message}), ${at}`,
      { place: file, next },
    );
  }
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : unreadable(file, code ?? syscall);
}

/** The first bytes of a file, enough for any header however compressed, and its size. */
function readHead(file: string): { head: Uint8Array; size: number } {
  let descriptor: number | undefined;
  try {
    // Before it is opened: that would wait for the writer of a named pipe.
    if (!statSync(file).isFile()) throw unreadable(file, 'not a regular file');
    descriptor = openSync(file, 'r');
    const status = fstatSync(descriptor);
    const head = new Uint8Array(Math.min(status.size, headBytes));
    const read = readSync(descriptor, head);
    return { head: head.subarray(0, read), size: status.size };
  } catch (error) {
    if (error instanceof GradwireError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code !== 'ENOENT') throw unreadable(file, code);
    throw inputError('DATA_FILE_MISSING', `${file} does not exist`, {
      place: file,
      next,
    });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function unreadable(file: string, code: string): GradwireError {
  return inputError('DATA_FILE_UNREADABLE', `${file} cannot be read (${code})`, {
    place: file,
    next: 'Check that it is a file and that you may read it.',
  });
}

function checkGzipName(file: string, head: Uint8Array): void {
  if (!file.endsWith('.gz') || isGzip(head)) return;
  const found = head.length === 0 ? 'nothing' : hex([...head.subarray(0, 2)]);
  throw inputError(
    head.length < 2 ? 'DATA_FILE_TRUNCATED' : 'DATA_FILE_CORRUPT',
    `${file} has ${found} at byte 0, expected 1f 8b (gzip)`,
    { place: file, next },
  );
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
}
