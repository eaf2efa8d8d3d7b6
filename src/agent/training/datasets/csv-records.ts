/**
 * A CSV file (RFC 4180), record by record, of any length: the parser gets some lines at a
 * time, which end where no quote is open. Values are trimmed, empty lines skipped.
 */
import { CsvError, parse } from 'csv-parse/sync';
import { linesOf, malformed, textOf } from './text-lines.ts';

export interface CsvRecord {
  /** Number of the record's first line, from 1 on. */
  readonly line: number;
  readonly values: readonly string[];
  /** The lines of a record with line ends in its values. */
  readonly within?: LinesWithin | undefined;
}

/** The lines after the first one of a record. */
export interface LinesWithin {
  readonly count: number;
  /** The values of the first ones, as if each were a record of its own. */
  readonly rows: readonly (readonly string[])[];
}

const BLOCK_CHARACTERS = 1 << 18;
/** A quote that stays open for longer is an error: it has swallowed other records. */
const MOST_CHARACTERS = 1 << 22;
const MOST_LINES = 1000;
/** Lines of a record that are looked at as if they were records. */
const MOST_ROWS = 20;
const DELIMITERS = [',', ';', '\t'] as const;

/**
 * The first record names the columns. The separator is the most frequent of commas,
 * semicolons and tabs in its line.
 * @throws GradwireError `DATA_MISMATCH` with the line and the column; as `linesOf`
 */
export function* csvRecords(file: string): Generator<CsvRecord> {
  let delimiter: string | undefined;
  let lines: string[] = [];
  let first = 1;
  let characters = 0;
  /** Lines since a quote was opened. */
  let open: number | undefined;
  const flush = (): CsvRecord[] => {
    const records = parseBlock(lines, { file, first, delimiter: delimiter ?? ',' });
    first += lines.length;
    lines = [];
    characters = 0;
    open = undefined;
    return records;
  };
  /**
   * Takes in the empty lines before this one, which matter within quotes only, and to later
   * numbers.
   */
  const skip = function* (number: number): Generator<CsvRecord> {
    const empty = number - first - lines.length;
    const kept = Math.min(empty, MOST_LINES - (open ?? 0));
    for (let i = 0; i < kept; i++) lines.push('');
    characters += kept;
    if (open !== undefined) open += kept;
    if (empty === kept && (open ?? 0) < MOST_LINES) return;
    yield* flush();
    first = number;
  };
  for (const [bytes, number] of linesOf(file)) {
    yield* skip(number);
    const line = textOf(bytes, file, number);
    if (delimiter === undefined && line.trim() !== '') {
      requireNoReturn(line, file, number);
      delimiter = delimiterOf(line);
    }
    lines.push(line);
    characters += line.length;
    const toggles = occurrences(line, '"') % 2 === 1;
    if (toggles) open = open === undefined ? 0 : undefined;
    else if (open !== undefined) open++;
    const most = open === undefined ? BLOCK_CHARACTERS : MOST_CHARACTERS;
    if (characters < most && (open ?? 0) < MOST_LINES) continue;
    yield* flush();
  }
  yield* flush();
}

const occurrences = (line: string, mark: string): number => {
  let count = 0;
  for (let at = line.indexOf(mark); at >= 0; at = line.indexOf(mark, at + 1)) count++;
  return count;
};

/** @throws GradwireError `DATA_MISMATCH` where returns alone end lines, as if all were one */
function requireNoReturn(header: string, file: string, number: number): void {
  const at = header.indexOf('\r');
  if (at < 0) return;
  throw malformed(file, number, 'a carriage return that does not end a line', {
    column: at + 1,
    next: 'End lines with a newline, alone or after a carriage return.',
  });
}

function delimiterOf(header: string): string {
  const [most] = DELIMITERS.toSorted(
    (a, b) => occurrences(header, b) - occurrences(header, a),
  );
  return most!;
}

interface Block {
  readonly file: string;
  /** Number of the first line. */
  readonly first: number;
  readonly delimiter: string;
}

interface Parsed {
  readonly info: { readonly lines: number };
  readonly record: readonly string[];
}

function parseBlock(
  lines: readonly string[],
  { file, first, delimiter }: Block,
): CsvRecord[] {
  try {
    const parsed = parse(lines.join('\n'), {
      delimiter,
      info: true,
      trim: true,
      record_delimiter: '\n',
      skip_empty_lines: true,
      relax_column_count: true,
    }) as unknown as readonly Parsed[];
    return parsed.map(({ info, record }) => {
      const count = record.reduce((sum, value) => sum + occurrences(value, '\n'), 0);
      const line = first + info.lines - 1 - count;
      if (count === 0) return { line, values: record };
      const start = line - first + 1;
      const rows = lines
        .slice(start, start + Math.min(count, MOST_ROWS))
        .map((text) => valuesOf(text, delimiter));
      return { line, values: record, within: { count, rows } };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const {
      code,
      column,
      lines: last,
    } = error as CsvError & {
      readonly column?: unknown;
      readonly lines?: number;
    };
    const end = (last ?? 1) - 1;
    const opening = QUOTE_FAULTS.has(code)
      ? lastOpening(lines.slice(0, end + 1), delimiter)
      : undefined;
    const index = opening?.column ?? column;
    const where = typeof index === 'number' ? `column ${index + 1}: ` : '';
    const span = end - (opening?.line ?? end);
    const reach = span === 0 ? '' : REACHES[code]?.(span, first + end);
    const what = reach || (FAULTS[code] ?? error.message);
    throw malformed(file, first + (opening?.line ?? end), where + what);
  }
}

/** Values of one line, whatever its quotes. */
function valuesOf(line: string, delimiter: string): readonly string[] {
  try {
    const [values = []] = parse(line, {
      delimiter,
      trim: true,
      relax_quotes: true,
      relax_column_count: true,
    }) as string[][];
    return values;
  } catch (error) {
    if (error instanceof CsvError) return [];
    throw error;
  }
}

/** Finds where the last quoted value of these lines begins: its line and column, from 0 on. */
function lastOpening(
  lines: readonly string[],
  delimiter: string,
): { readonly line: number; readonly column: number } | undefined {
  let found: { readonly line: number; readonly column: number } | undefined;
  let isOpen = false;
  let column = 0;
  for (const [line, text] of lines.entries()) {
    if (!isOpen) column = 0;
    let isStart = !isOpen;
    for (const character of text) {
      if (character === '"') {
        if (!isOpen && isStart) found = { line, column };
        isOpen = !isOpen;
        isStart = false;
      } else if (isOpen) {
        continue;
      } else if (character === delimiter) {
        column++;
        isStart = true;
      } else if (character.trim() !== '') isStart = false;
    }
  }
  return found;
}

const QUOTE_FAULTS: ReadonlySet<string> = new Set<CsvError['code']>([
  'CSV_QUOTE_NOT_CLOSED',
  'CSV_INVALID_CLOSING_QUOTE',
]);

/** Faults that reach over several lines. */
const REACHES: Readonly<
  Partial<Record<CsvError['code'], (lines: number, end: number) => string>>
> = {
  CSV_QUOTE_NOT_CLOSED: (lines) =>
    `a quote is opened but not closed within the next ${lines} lines`,
  CSV_INVALID_CLOSING_QUOTE: (_, end) =>
    `a quote is opened whose closing quote, in line ${end}, is followed by text; a quote ` +
    'within quotes must be written as ""',
};

const FAULTS: Readonly<Partial<Record<CsvError['code'], string>>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened but not closed',
  CSV_INVALID_CLOSING_QUOTE:
    'text after a closing quote; a quote within quotes must be written as ""',
  INVALID_OPENING_QUOTE:
    'a quote within a value; quote the whole value and write this quote as ""',
};
