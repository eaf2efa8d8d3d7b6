/**
 * A click log, or any other two classes of samples with columns, as a CSV file whose first
 * line names the columns. One holds the label, which has two values: class 0 is the first in
 * their order. Up to 13 columns are numbers, up to 26 are categories: those that the spec names
 * (`workload.columns`), or by default all, where a column is of numbers if all of its values are.
 *
 * A number x becomes sign(x)·log(1 + |x|), an empty one 0. A category becomes a row by its
 * text and the number of its column among the categories.
 *
 * The test part is the file NAME.t beside the file NAME. Without it, every tenth sample is.
 */
import { inputError } from '../../../shared/errors/errors.ts';
import { nearest } from '../../../shared/words/nearest.ts';
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import {
  CLICK_BYTES,
  categoryRow,
  clickFields,
  ClickCollector,
  requireRows,
  type ClickSample,
} from './click-samples.ts';
import { csvRecords, type CsvRecord, type LinesWithin } from './csv-records.ts';
import type { ColumnNames, Dataset, DatasetSize } from './dataset.ts';
import { FileCache, requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import { withTestFile, type SplitFiles } from './split-files.ts';
import { malformed, quoted } from './text-lines.ts';
import { log1p } from '../../../shared/numbers/portable-math.ts';

const FEATURES = 2 ** 16;
const LABEL = 'label';
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

interface Column {
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

const contents = new FileCache((file): Contents => {
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

function requireLength(
  { line, values }: CsvRecord,
  columns: number,
  file: string,
): void {
  if (values.length === columns) return;
  const expected = `expected ${columns}, as the first line has`;
  throw malformed(file, line, `${values.length} columns, ${expected}`);
}

const isNumber = (value: string): boolean =>
  NUMBER.test(value) && Number.isFinite(Number(value));

export const csv: Dataset = {
  id: 'csv',
  title: 'CSV file',
  summary: 'Two classes of samples with numbers and categories, from a CSV file',
  needsData: true,
  readsWhole: true,
  takesColumns: true,
  fields: clickFields,
  sampleBytes: CLICK_BYTES,
  features: () => FEATURES,
  inspect: ({ columns, directory, features = FEATURES }) => {
    requireRows(features);
    return sizesOf(filesOf(directory), columns);
  },

  async open({ columns, directory, features = FEATURES, rank, world }) {
    const files = filesOf(directory);
    const layout = layoutOf(files.train, columns);
    const collector = new ClickCollector(sizesOf(files, columns), rank, world);
    const collect = (
      file: string,
      of: (n: number) => ReturnType<typeof collector.ofSplit>,
    ) => {
      const read = readerOf(file, layout, requireRows(features));
      let n = -1;
      for (const record of csvRecords(file)) {
        const samples = n < 0 ? undefined : of(n);
        n++;
        samples?.add(read(record));
      }
    };
    if (files.test === undefined) collect(files.train, (n) => collector.ofSplit(n));
    else {
      collect(files.train, (n) => collector.ofTrain(n));
      collect(files.test, (n) => collector.ofTest(n));
    }
    return await Promise.resolve(collector.shard());
  },
};

const filesOf = (place: string | undefined): SplitFiles =>
  withTestFile(requireFile(place, 'a CSV file', 'clicks'));

function sizesOf(
  { train, test }: SplitFiles,
  columns: ColumnNames | undefined,
): DatasetSize {
  const { categorical, labels, numeric } = layoutOf(train, columns);
  const listed = (names: readonly string[]): string =>
    names.length === 0 ? 'none' : names.join(', ');
  const found =
    `class 0 is "${labels[0]}", class 1 is "${labels[1]}"; numbers: ${listed(numeric)}; ` +
    `categories: ${listed(categorical)}`;
  const { samples } = contents.of(train);
  const doubts = mixedColumns(train, categorical);
  if (test === undefined) {
    return {
      ...splitSizes(samples),
      notice: `${found}${doubts}; every tenth sample is used for testing.`,
    };
  }
  return {
    train: samples,
    test: contents.of(test).samples,
    notice: `${found}${doubts}.`,
  };
}

/** The categories most of whose values are numbers, with the value that made them categories. */
function mixedColumns(file: string, categorical: readonly string[]): string {
  const { columns, samples } = contents.of(file);
  const mixed = columns.filter(
    ({ name, numbers, text }) =>
      text !== undefined && 2 * numbers > samples && categorical.includes(name),
  );
  return mixed
    .map(
      ({ name, text }) =>
        `; ${quoted(name)} counts as a category because of ${quoted(text!.value)} in line ${text!.line}`,
    )
    .join('');
}

/** Names of the columns that are used. */
interface Layout {
  readonly label: string;
  /** Labels of class 0 and class 1. */
  readonly labels: readonly [string, string];
  readonly numeric: readonly string[];
  readonly categorical: readonly string[];
}

/**
 * @throws GradwireError `COLUMN_UNKNOWN`, `COLUMN_REPEATED`, `COLUMNS_TOO_MANY`;
 * `DATA_MISMATCH` where the labels are not two
 */
function layoutOf(file: string, given: ColumnNames = {}): Layout {
  const { columns } = contents.of(file);
  if (columns.length === 0) {
    throw inputError('DATA_MISMATCH', `${file} is empty`, {
      place: file,
      next: 'Use a file whose first line names its columns.',
    });
  }
  const label = given.label ?? LABEL;
  const labelColumn = columnOf(columns, label, file, 'workload.columns.label');
  const isListed = given.numeric !== undefined || given.categorical !== undefined;
  const others = isListed ? [] : columns.filter((column) => column !== labelColumn);
  const ofKind = (isNumeric: boolean): readonly string[] =>
    others.filter((column) => column.isNumeric === isNumeric).map(({ name }) => name);
  const numeric = given.numeric ?? ofKind(true);
  const categorical = given.categorical ?? ofKind(false);
  const used = [label, ...numeric, ...categorical];
  for (const [i, name] of used.entries()) {
    columnOf(columns, name, file, 'workload.columns');
    if (used.indexOf(name) === i) continue;
    throw inputError('COLUMN_REPEATED', `the column ${quoted(name)} is listed twice`, {
      place: 'workload.columns',
      next: 'List it once.',
    });
  }
  requireCount(numeric, DENSE_COLUMNS, 'numbers');
  requireCount(categorical, CATEGORY_COLUMNS, 'categories');
  if (used.length === 1) {
    throw inputError('DATA_MISMATCH', `${file} has no column besides the label`, {
      place: file,
      next: 'Use a file with numeric or category columns.',
    });
  }
  const labels = labelsOf(labelColumn, file);
  requireNoSwallowed(file, columns.indexOf(labelColumn), labels);
  return { label, labels, numeric, categorical };
}

/**
 * Two quotes too many hide the records between them in one value.
 * @param place of the column of labels
 * @throws GradwireError `DATA_MISMATCH` where most lines of a value have a label themselves
 */
function requireNoSwallowed(
  file: string,
  place: number,
  labels: readonly string[],
): void {
  const { columns, doubtful } = contents.of(file);
  for (const { count, line, rows } of doubtful) {
    const samples = rows.filter(
      (values) => values.length === columns.length && labels.includes(values[place]!),
    );
    if (2 * samples.length < rows.length) continue;
    throw malformed(
      file,
      line,
      `a quoted value reaches over the next ${count === 1 ? 'line' : `${count} lines`}, ` +
        'which could be samples',
      {
        next: 'Remove the quote, or write it as "" in quotes. Replace line ends that belong to a value.',
      },
    );
  }
}

function columnOf(
  columns: readonly Column[],
  name: string,
  file: string,
  place: string,
): Column {
  const found = columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  const names = columns.map((column) => column.name);
  const meant = nearest(name, names);
  throw inputError('COLUMN_UNKNOWN', `${file} has no column ${quoted(name)}`, {
    place,
    next:
      meant === undefined
        ? `Its columns: ${names.join(', ')}.`
        : `Did you mean "${meant}"?`,
  });
}

function requireCount(names: readonly string[], most: number, what: string): void {
  if (names.length <= most) return;
  throw inputError(
    'COLUMNS_TOO_MANY',
    `${names.length} columns of ${what}; a sample has room for ${most}`,
    {
      place: 'workload.columns',
      next: 'Name the columns to use, as numeric and categorical in workload.columns.',
    },
  );
}

function labelsOf({ name, values }: Column, file: string): readonly [string, string] {
  const isNumeric = [...values.keys()].every(isNumber);
  const [first, second, third] = [...values.keys()].sort((a, b) =>
    isNumeric ? Number(a) - Number(b) : a < b ? -1 : 1,
  );
  if (first === undefined || second === undefined) {
    const found = first === undefined ? 'no samples' : `only ${quoted(first)}`;
    throw inputError(
      'DATA_MISMATCH',
      `${file} has ${found} in the column ${quoted(name)}, expected two labels`,
      { place: file, next: 'Use a file with samples of both classes.' },
    );
  }
  if (third === undefined) return [first, second];
  const [one, two, other] = [...values.keys()].map(quoted);
  throw malformed(
    file,
    [...values.values()][2]!,
    `column ${quoted(name)}: ${other!}, after ${one!} and ${two!} in earlier lines`,
  );
}

/** The sample returned is valid until the next record is read. */
function readerOf(
  file: string,
  { categorical, label, labels, numeric }: Layout,
  rows: number,
): (record: CsvRecord) => ClickSample {
  const { columns } = contents.of(file);
  const placeOf = (name: string): number =>
    columns.indexOf(columnOf(columns, name, file, 'workload.data'));
  const places = {
    label: placeOf(label),
    numeric: numeric.map(placeOf),
    categorical: categorical.map(placeOf),
  };
  const dense = new Float32Array(DENSE_COLUMNS);
  // Missing columns count as columns of empty values.
  const nothing = new Uint8Array(0);
  const categories = Int32Array.from({ length: CATEGORY_COLUMNS }, (_, column) =>
    categoryRow(nothing, column, rows),
  );
  return (record) => {
    const { line, values } = record;
    requireLength(record, columns.length, file);
    const found = values[places.label]!;
    const which = labels.indexOf(found);
    if (which < 0) {
      const expected = `expected ${quoted(labels[0])} or ${quoted(labels[1])}`;
      const what = `column ${quoted(label)}: ${quoted(found)}, ${expected}`;
      throw malformed(file, line, what);
    }
    for (const [i, place] of places.numeric.entries()) {
      const value = values[place]!;
      if (value !== '' && !isNumber(value)) {
        const what = `column ${quoted(numeric[i]!)}: ${quoted(value)}, expected a number`;
        throw malformed(file, line, what);
      }
      const number = Number(value);
      dense[i] = Math.sign(number) * log1p(Math.abs(number));
    }
    for (const [i, place] of places.categorical.entries()) {
      categories[i] = categoryRow(Buffer.from(values[place]!), i, rows);
    }
    return { label: which, dense, categories };
  };
}
