/** Files of one sample a line, plain or gzipped, read piece by piece. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { Gunzip } from 'minizlib';
import { inputError, type GradwireError } from '../../../shared/errors.ts';
import { fileStamp } from './file-stamp.ts';

const PIECE_BYTES = 1 << 20;
const NEWLINE = 10;

/** @throws GradwireError `DATA_DIRECTORY_MISSING` where it is not a file that can be read */
export function requireFile(
  file: string | undefined,
  what: string,
  instead: string,
): string {
  const next = `Set workload.data to ${what}. Or use the data set "${instead}".`;
  if (file === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', `the data set needs ${what}`, {
      ...{ place: 'workload.data', next },
    });
  }
  try {
    if (statSync(file).isFile()) return file;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    const message =
      why === 'ENOENT' ? `${file} does not exist` : `${file} may not be read (${why})`;
    throw inputError('DATA_DIRECTORY_MISSING', message, {
      ...{ place: 'workload.data', next },
    });
  }
  throw inputError('DATA_DIRECTORY_MISSING', `${file} is not a file`, {
    ...{ place: 'workload.data', next },
  });
}

/**
 * The lines of a file, without line ends; each is valid until the next is requested.
 * @throws GradwireError `DATA_FILE_UNREADABLE`
 */
export function* linesOf(file: string): Generator<Buffer> {
  try {
    yield* file.endsWith('.gz') ? zippedLines(file) : plainLines(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (typeof code !== 'string' || !(error instanceof Error) || 'kind' in error)
      throw error;
    throw inputError('DATA_FILE_UNREADABLE', `${file}: ${error.message}`, {
      ...{ place: file, next: 'Fetch the file again.' },
    });
  }
}

function* zippedLines(file: string): Generator<Buffer> {
  const handle = openSync(file, 'r');
  try {
    // A gzipped piece may be a thousand times as long.
    yield* splitLines(file, unzipped(piecesOf(handle, PIECE_BYTES >> 6)));
  } finally {
    closeSync(handle);
  }
}

function* plainLines(file: string): Generator<Buffer> {
  const handle = openSync(file, 'r');
  try {
    yield* splitLines(file, piecesOf(handle, PIECE_BYTES));
  } finally {
    closeSync(handle);
  }
}

function* piecesOf(handle: number, bytes: number): Generator<Buffer> {
  for (;;) {
    const piece = Buffer.allocUnsafe(bytes);
    const count = readSync(handle, piece);
    if (count === 0) return;
    yield piece.subarray(0, count);
  }
}

/** @throws zlib's error, with a code */
function* unzipped(pieces: Iterable<Buffer>): Generator<Buffer> {
  // Node's own streams deliver nothing until the caller waits.
  const gunzip = new Gunzip({});
  let fault: Error | undefined;
  const ready: Buffer[] = [];
  gunzip.on('error', (error) => (fault = error as Error));
  gunzip.on('data', (chunk) => ready.push(chunk));
  const taken = (): readonly Buffer[] => {
    if (fault !== undefined) throw fault;
    return ready.splice(0);
  };
  for (const piece of pieces) {
    gunzip.write(piece);
    yield* taken();
  }
  gunzip.end();
  yield* taken();
}

/** A file with longer lines is not a file of lines. */
const MOST_LINE_BYTES = 1 << 26;

function* splitLines(file: string, pieces: Iterable<Buffer>): Generator<Buffer> {
  let rest: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  const joined = (): Buffer => {
    const line = rest.length === 1 ? rest[0]! : Buffer.concat(rest);
    rest = [];
    bytes = 0;
    number++;
    return withoutReturn(line);
  };
  for (const piece of pieces) {
    let from = 0;
    for (;;) {
      const end = piece.indexOf(NEWLINE, from);
      if (end < 0) break;
      rest.push(piece.subarray(from, end));
      yield joined();
      from = end + 1;
    }
    if (from === piece.length) continue;
    rest.push(piece.subarray(from));
    bytes += piece.length - from;
    if (bytes > MOST_LINE_BYTES) {
      throw malformed(file, number, `longer than ${MOST_LINE_BYTES} bytes`);
    }
  }
  if (bytes > 0) yield joined();
}

const RETURN = 13;
const withoutReturn = (line: Buffer): Buffer =>
  line.at(-1) === RETURN ? line.subarray(0, -1) : line;

/** @param line from 1 on */
export function malformed(file: string, line: number, what: string): GradwireError {
  return inputError('DATA_MISMATCH', `${file}, line ${line}: ${what}`, {
    ...{ place: `${file}:${line}`, next: 'Correct the line, or fetch the file again.' },
  });
}

const MOST_SHOWN = 40;

/** A value of a file, as errors show it. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** A file, and the test part beside it (NAME.t), where there is one. */
export interface SplitFiles {
  readonly train: string;
  readonly test?: string | undefined;
}

export function withTestFile(train: string): SplitFiles {
  const test = `${train}.t`;
  const isThere = statSync(test, { throwIfNoEntry: false })?.isFile() === true;
  return { train, test: isThere ? test : undefined };
}

/** Caches facts about files until they change. */
export class FileCache<Found> {
  readonly #found = new Map<
    string,
    { readonly stamp: string; readonly value: Found }
  >();
  readonly #look: (...files: string[]) => Found;

  constructor(look: (...files: string[]) => Found) {
    this.#look = look;
  }

  of(...files: string[]): Found {
    const stamp = files.map(fileStamp).join();
    const name = files.join('\0');
    const known = this.#found.get(name);
    if (known?.stamp === stamp) return known.value;
    const value = this.#look(...files);
    this.#found.set(name, { stamp, value });
    return value;
  }
}
