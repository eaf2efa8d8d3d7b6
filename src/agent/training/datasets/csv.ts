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
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import {
  CLICK_BYTES,
  categoryRow,
  clickFields,
  ClickCollector,
  requireRows,
  type ClickSample,
} from './click-samples.ts';
import { contents, isNumber, requireLength, type Column } from './csv-contents.ts';
import { columnOf, layoutOf, type Layout } from './csv-layout.ts';
import { csvRecords, type CsvRecord } from './csv-records.ts';
import type { ColumnNames, Dataset, DatasetSize } from './dataset.ts';
import { requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import { withTestFile, type SplitFiles } from './split-files.ts';
import { malformed, quoted } from './text-lines.ts';
import { log1p } from '../../../shared/numbers/portable-math.ts';

const FEATURES = 2 ** 16;

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
  const layout = layoutOf(train, columns);
  for (const file of [train, ...(test === undefined ? [] : [test])]) {
    requireReadable(file, layout);
  }
  const { categorical, labels, numeric } = layout;
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

/**
 * Finds before a run starts what its ranks would find when they read the samples.
 * @throws GradwireError `COLUMN_UNKNOWN`; `DATA_MISMATCH` for the first text in a column of
 * numbers, and for the first label that is of no class
 */
function requireReadable(
  file: string,
  { categorical, label, labels, numeric }: Layout,
): void {
  const { columns } = contents.of(file);
  const used = (name: string): Column => columnOf(columns, name, file, 'workload.data');
  for (const name of categorical) used(name);
  for (const name of numeric) {
    const { text } = used(name);
    if (text !== undefined) throw noNumber(file, text.line, name, text.value);
  }
  for (const [value, line] of used(label).values) {
    if (!labels.includes(value)) throw noLabel(file, line, { label, labels }, value);
  }
}

function noNumber(file: string, line: number, column: string, value: string): Error {
  const what = `column ${quoted(column)}: ${quoted(value)}, expected a number`;
  return malformed(file, line, what);
}

function noLabel(
  file: string,
  line: number,
  { label, labels }: Pick<Layout, 'label' | 'labels'>,
  value: string,
): Error {
  const expected = `expected ${quoted(labels[0])} or ${quoted(labels[1])}`;
  return malformed(
    file,
    line,
    `column ${quoted(label)}: ${quoted(value)}, ${expected}`,
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
    if (which < 0) throw noLabel(file, line, { label, labels }, found);
    for (const [i, place] of places.numeric.entries()) {
      const value = values[place]!;
      if (value !== '' && !isNumber(value)) {
        throw noNumber(file, line, numeric[i]!, value);
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
