/** The columns of a CSV file and what is in them, read once. */
import { csvRecords, type CsvRecord, type LinesWithin } from './csv-records.ts';
import { FileCache } from './sample-file.ts';
import { malformed, quoted } from './text-lines.ts';

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

export interface Column {
  readonly name: string;
  /** Whether it has values and all of them are numbers. */
  readonly isNumeric: boolean;
  /** The first three different values, and the line of each. */
  readonly values: ReadonlyMap<string, number>;
  /** Number of values that are numbers; `text` is the first that is none. */
  readonly numbers: number;
  readonly text?: { readonly value: string; readonly line: number } | undefined;
}

interface Contents {
  readonly columns: readonly Column[];
  readonly samples: number;
  /** Records over several lines, of which most could be records themselves. */
  readonly doubtful: readonly (Pick<CsvRecord, 'line'> & LinesWithin)[];
}

const DIFFERENT = 3;
const MOST_DOUBTFUL = 100;

/** The columns of each file, by its path. */
export const contents = new FileCache((file): Contents => {
  let samples = 0;
  const doubtful: (Pick<CsvRecord, 'line'> & LinesWithin)[] = [];
  let columns: (Omit<Column, 'isNumeric' | 'values'> & {
    values: Map<string, number>;
    numbers: number;
    text?: { value: string; line: number };
  })[] = [];
  for (const { line, values, within } of csvRecords(file)) {
    if (columns.length === 0) {
      columns = namesOf(values, file, line).map((name) => ({
        name,
        values: new Map<string, number>(),
        numbers: 0,
      }));
      continue;
    }
    requireLength({ line, values }, columns.length, file);
    if (within !== undefined && doubtful.length < MOST_DOUBTFUL) {
      const rows = within.rows.filter(({ length }) => length === columns.length);
      if (2 * rows.length >= within.rows.length) doubtful.push({ ...within, line });
    }
    for (const [i, column] of columns.entries()) {
      const value = values[i]!;
      if (column.values.size < DIFFERENT && !column.values.has(value)) {
        column.values.set(value, line);
      }
      if (value === '') continue;
      if (isNumber(value)) column.numbers++;
      else column.text ??= { value, line };
    }
    samples++;
  }
  return {
    samples,
    doubtful,
    columns: columns.map((column) => ({
      ...column,
      isNumeric: column.numbers > 0 && column.text === undefined,
    })),
  };
});

function namesOf(
  names: readonly string[],
  file: string,
  line: number,
): readonly string[] {
  const known = new Set<string>();
  for (const [i, name] of names.entries()) {
    const where = `column ${i + 1}`;
    if (name === '') throw malformed(file, line, `${where} has no name`);
    if (known.has(name)) {
      throw malformed(file, line, `${where} repeats the name ${quoted(name)}`);
    }
    known.add(name);
  }
  return names;
}

/** @throws GradwireError `DATA_MISMATCH` where a record has more or fewer values than columns */
export function requireLength(
  { line, values }: CsvRecord,
  columns: number,
  file: string,
): void {
  if (values.length === columns) return;
  const expected = `expected ${columns}, as the first line has`;
  throw malformed(file, line, `${values.length} columns, ${expected}`);
}

/** Whether a value is a finite number in decimal notation. */
export const isNumber = (value: string): boolean =>
  NUMBER.test(value) && Number.isFinite(Number(value));
