/**
 * The bytes of a data file, piece by piece: gunzipped where its first bytes say that it is
 * gzipped, whatever its name. A file that changes meanwhile, and one in another compressed or
 * binary format, is refused.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { GradwireError, inputError } from '../../../shared/errors/errors.ts';
import { ReadingProgress } from './reading-progress.ts';
import { GZIPPED_PIECE_BYTES, GzipReader, isGzip } from './gzip-reader.ts';

const PIECE_BYTES = 1 << 20;

/**
 * @throws GradwireError `DATA_FILE_UNREADABLE`, also of a damaged gzip file; `DATA_FILE_CHANGED`;
 * `DATA_MISMATCH` for another format
 */
export function* piecesOf(file: string): Generator<Buffer> {
  try {
    const handle = openSync(file, 'r');
    try {
      const before = stampOf(handle);
      try {
        yield* contentsOf(file, handle);
      } catch (error) {
        // A fault may come of that.
        throw stampOf(handle) === before ? error : changed(file);
      }
      if (stampOf(handle) !== before) throw changed(file);
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    if (error instanceof GradwireError || !isSystemError(error)) throw error;
    throw inputError('DATA_FILE_UNREADABLE', `${file}: ${error.message}`, {
      place: file,
      next: 'Fetch the file again.',
    });
  }
}

const isSystemError = (error: unknown): error is Error =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';

function stampOf(handle: number): string {
  const { mtimeMs, size } = fstatSync(handle);
  return [mtimeMs, size].join();
}

export const changed = (file: string): GradwireError =>
  inputError('DATA_FILE_CHANGED', `${file} changed while it was read`, {
    place: file,
    next: ONCE_WRITTEN,
  });

const ONCE_WRITTEN = 'Start again when nothing writes the data any more.';

/**
 * Data that had another size when it was looked at.
 * @throws GradwireError `DATA_FILE_CHANGED`
 */
export function requireSame(found: number, expected: number, noun: string): void {
  if (found === expected) return;
  throw inputError(
    'DATA_FILE_CHANGED',
    `the data has ${found} ${noun}, but had ${expected} a moment before`,
    { place: 'workload.data', next: ONCE_WRITTEN },
  );
}

function* contentsOf(file: string, handle: number): Generator<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  const found = head.subarray(0, readSync(handle, head, 0, HEAD_BYTES, 0));
  if (!isGzip(found)) {
    requireNoArchive(file, found);
    requireNoWideText(file, found);
    yield* piecesFrom(file, handle, PIECE_BYTES);
    return;
  }
  let isFirst = true;
  for (const piece of unzipped(file, handle)) {
    if (isFirst && isGzip(piece)) throw isOf(file, 'gzipped twice', 'gunzip');
    if (isFirst) requireNoArchive(file, piece);
    if (isFirst) requireNoWideText(file, piece);
    isFirst = false;
    yield piece;
  }
}

function* unzipped(file: string, handle: number): Generator<Buffer> {
  const reader = new GzipReader(file);
  for (const piece of piecesFrom(file, handle, GZIPPED_PIECE_BYTES))
    yield* reader.read(piece);
  yield* reader.end();
}

function* piecesFrom(file: string, handle: number, bytes: number): Generator<Buffer> {
  const progress = new ReadingProgress(file, fstatSync(handle).size);
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafe(bytes);
    const count = readSync(handle, piece, 0, bytes, position);
    if (count === 0) break;
    position += count;
    yield piece.subarray(0, count);
    progress.at(position);
  }
  progress.end();
}

const HEAD_BYTES = 16;

/** A format: its first bytes, and the program that makes text of it. */
type Format = readonly [head: string, what: string, program?: string];

const ARCHIVES: readonly Format[] = [
  ['BZh', 'compressed by bzip2', 'bunzip2'],
  ['\xfd7zXZ\x00', 'compressed by xz', 'unxz'],
  ['\x28\xb5\x2f\xfd', 'compressed by Zstandard', 'unzstd'],
  ['PK\x03\x04', 'a ZIP archive or a spreadsheet', 'unzip'],
  ['7z\xbc\xaf\x27\x1c', 'a 7-Zip archive', '7z x'],
  ['PAR1', 'in the format Parquet'],
  ['\x89HDF', 'in the format HDF5'],
];

/** The mark of UTF-32 begins with that of UTF-16. */
const WIDE_TEXTS: readonly Format[] = [
  ['\xff\xfe\x00\x00', 'text in UTF-32', 'iconv -f UTF-32 -t UTF-8'],
  ['\x00\x00\xfe\xff', 'text in UTF-32', 'iconv -f UTF-32 -t UTF-8'],
  ['\xff\xfe', 'text in UTF-16', 'iconv -f UTF-16 -t UTF-8'],
  ['\xfe\xff', 'text in UTF-16', 'iconv -f UTF-16 -t UTF-8'],
];

/** @throws GradwireError `DATA_MISMATCH` for a compressed or binary format other than gzip */
export function requireNoArchive(file: string, head: Uint8Array): void {
  requireNone(ARCHIVES, file, head);
}

/** @throws GradwireError `DATA_MISMATCH` for text that says to be in UTF-16 or UTF-32 */
export function requireNoWideText(file: string, head: Uint8Array): void {
  requireNone(WIDE_TEXTS, file, head);
}

function requireNone(formats: readonly Format[], file: string, head: Uint8Array): void {
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1');
  const format = formats.find(([mark]) => start.startsWith(mark));
  if (format !== undefined) throw isOf(file, format[1], format[2]);
}

/** The first bytes of a file. */
export function headOf(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(handle, head, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(handle);
  }
}

/** @param program that makes text of it */
export const isOf = (file: string, what: string, program?: string): GradwireError =>
  inputError('DATA_MISMATCH', `${file} is ${what}, expected text in UTF-8`, {
    place: file,
    next:
      program === undefined
        ? 'Export the data as text first.'
        : `Convert it first, for example with ${program}.`,
  });
