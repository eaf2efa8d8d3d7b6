/**
 * The lines of text files, one sample each: UTF-8, with or without a mark at the beginning that
 * says so, gzipped or not. What is not text is refused with its line and column.
 */
import { isAscii, isUtf8 } from 'node:buffer';
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';
import { piecesOf } from './data-file.ts';

const NEWLINE = 10;
const RETURN = 13;
/** A file with longer lines is not a file of lines. */
const MOST_LINE_BYTES = 1 << 26;
/**
 * The most empty lines in a row: more are no mistake of a person's, but a gzipped file may have
 * them by the billion.
 */
const MOST_EMPTY_LINES = 1 << 26;
/** UTF-8's byte order mark. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * The lines that are not empty, without their ends, and their numbers from 1 on; each is valid
 * until the next is requested.
 * @throws GradwireError as `piecesOf`; `DATA_MISMATCH` for a line that is too long or has a
 * zero byte, and for empty lines without end
 */
export function* linesOf(
  file: string,
): Generator<readonly [line: Buffer, number: number]> {
  for (const [whole, number] of splitLines(file)) {
    const line = number === 1 ? withoutMark(whole) : whole;
    const zero = line.indexOf(0);
    if (zero >= 0) {
      throw malformed(file, number, 'a zero byte, which text has not', {
        column: zero + 1,
        next: 'Correct the file. If it is in UTF-16, convert it to UTF-8.',
      });
    }
    if (line.length > 0) yield [line, number];
  }
}

function* splitLines(file: string): Generator<readonly [line: Buffer, number: number]> {
  let rest: Buffer[] = [];
  let bytes = 0;
  let number = 1;
  /** The first empty line of those that are being skipped. */
  let firstEmpty = 1;
  const joined = (): readonly [Buffer, number] => {
    const line = rest.length === 1 ? rest[0]! : Buffer.concat(rest);
    rest = [];
    bytes = 0;
    firstEmpty = number + 1;
    return [line.at(-1) === RETURN ? line.subarray(0, -1) : line, number++];
  };
  for (const piece of piecesOf(file)) {
    let from = 0;
    for (;;) {
      while (bytes === 0 && isLineEnd(piece, from)) {
        from += piece[from] === NEWLINE ? 1 : 2;
        number++;
      }
      if (number - firstEmpty > MOST_EMPTY_LINES) {
        const what = `more than ${MOST_EMPTY_LINES} empty lines follow`;
        throw malformed(file, firstEmpty, what, { next: 'Remove the empty lines.' });
      }
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

const isLineEnd = (piece: Buffer, at: number): boolean =>
  piece[at] === NEWLINE || (piece[at] === RETURN && piece[at + 1] === NEWLINE);

/** Text without the mark of UTF-8. */
export const withoutMark = (line: Buffer): Buffer =>
  line.subarray(0, MARK.length).equals(MARK) ? line.subarray(MARK.length) : line;

/**
 * The text of a line. An unknown byte would otherwise become U+FFFD, and different words the same.
 * @throws GradwireError `DATA_MISMATCH` where it is not UTF-8
 */
export function textOf(line: Buffer, file: string, number: number): string {
  if (isAscii(line)) return line.toString('latin1');
  requireUtf8(line, file, number);
  return line.toString('utf8');
}

/** @throws GradwireError `DATA_MISMATCH` */
export function requireUtf8(line: Buffer, file: string, number: number): void {
  if (isUtf8(line)) return;
  const valid = validBytes(line);
  const byte = line[valid]!.toString(16).toUpperCase().padStart(2, '0');
  throw malformed(file, number, `the byte ${byte} is not UTF-8`, {
    column: [...line.toString('utf8', 0, valid)].length + 1,
    next: TO_UTF8,
  });
}

const TO_UTF8 =
  'Convert the file to UTF-8, for example with iconv -f WINDOWS-1252 -t UTF-8.';

/** Counts the bytes at the beginning that are characters in UTF-8. */
function validBytes(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at]!;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (!isUtf8(bytes.subarray(at, at + length))) break;
    at += length;
  }
  return at;
}

/**
 * @param line from 1 on
 * @param more the column, from 1 on, where it is known
 */
export function malformed(
  file: string,
  line: number,
  what: string,
  {
    column,
    next = 'Correct the line, or fetch the file again.',
  }: { readonly column?: number; readonly next?: string } = {},
): GradwireError {
  const where = column === undefined ? '' : `, column ${column}`;
  const place = column === undefined ? `${file}:${line}` : `${file}:${line}:${column}`;
  return inputError('DATA_MISMATCH', `${file}, line ${line}${where}: ${what}`, {
    place,
    next,
  });
}

const MOST_SHOWN = 40;

/** A value of a file, as errors show it. */
export const quoted = (text: string): string =>
  JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
