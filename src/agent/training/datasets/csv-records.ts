/**
 * A CSV file (RFC 4180), record by record, of any length: the parser gets some lines at a
 * time, which end where no quote is open. Values are trimmed, empty lines skipped.
 */
import { CsvError, parse } from 'csv-parse/sync';
import { linesOf, malformed } from './sample-file.ts';

export interface CsvRecord {
  /** Of its first line, from 1 on. */
  readonly line: number;
  readonly values: readonly string[];
}

const BLOCK_CHARACTERS = 1 << 18;
/** A quote that stays open for longer is an error. */
const MOST_CHARACTERS = 1 << 22;
const DELIMITERS = [',', ';', '\t'] as const;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * The first record names the columns. The separator is the most frequent of commas,
 * semicolons and tabs in its line.
 * @throws GradwireError `DATA_MISMATCH` with the line and the column; `DATA_FILE_UNREADABLE`
 */
export function* csvRecords(file: string): Generator<CsvRecord> {
  let delimiter: string | undefined;
  let lines: string[] = [];
  let first = 1;
  let characters = 0;
  let isOpen = false;
  const flush = (): CsvRecord[] => {
    const records = parseBlock(lines, { file, first, delimiter: delimiter ?? ',' });
    first += lines.length;
    lines = [];
    characters = 0;
    isOpen = false;
    return records;
  };
  for (const bytes of linesOf(file)) {
    let line = bytes.toString('utf8');
    if (delimiter === undefined) {
      if (line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
      if (line.trim() !== '') delimiter = delimiterOf(line);
    }
    lines.push(line);
    characters += line.length;
    if (occurrences(line, '"') % 2 === 1) isOpen = !isOpen;
    if (characters < (isOpen ? MOST_CHARACTERS : BLOCK_CHARACTERS)) continue;
    yield* flush();
  }
  yield* flush();
}

const occurrences = (line: string, mark: string): number => {
  let count = 0;
  for (let at = line.indexOf(mark); at >= 0; at = line.indexOf(mark, at + 1)) count++;
  return count;
};

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
      ...{ delimiter, info: true, trim: true, record_delimiter: '\n' },
      ...{ skip_empty_lines: true, relax_column_count: true },
    }) as unknown as readonly Parsed[];
    return parsed.map(({ info, record }) => {
      const within = record.reduce((sum, value) => sum + occurrences(value, '\n'), 0);
      return { line: first + info.lines - 1 - within, values: record };
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const {
      code,
      column,
      lines: line,
    } = error as CsvError & {
      readonly column?: unknown;
      readonly lines?: number;
    };
    const where = typeof column === 'number' ? `column ${column + 1}: ` : '';
    const what = FAULTS[code] ?? error.message;
    throw malformed(file, first + (line ?? 1) - 1, where + what);
  }
}

const FAULTS: Readonly<Partial<Record<CsvError['code'], string>>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened but not closed',
  CSV_INVALID_CLOSING_QUOTE:
    'text after a closing quote; a quote within quotes must be written as ""',
  INVALID_OPENING_QUOTE:
    'a quote within a value; quote the whole value and write this quote as ""',
};
