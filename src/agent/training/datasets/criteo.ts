/**
 * Criteo's click logs (Kaggle's Display Advertising Challenge of 2014; the Terabyte logs): a
 * line has a label, 0 or 1, 13 whole numbers and 26 categories in hexadecimal digits,
 * separated by tabs; any of them except the label may be empty.
 *
 * A number x becomes log(1 + x), as in DLRM's implementation: negative and empty values count as
 * 0. A category becomes a row by its digits and its column; an empty one is a category of its
 * own.
 *
 * The test part is the file NAME.t beside the file NAME. Without it, every tenth sample is.
 */
import { inputError } from '../../../shared/errors/errors.ts';
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import {
  CLICK_BYTES,
  categoryRow,
  clickFields,
  ClickCollector,
  requireRows,
  type ClickSample,
} from './click-samples.ts';
import type { Dataset, DatasetSize } from './dataset.ts';
import { FileCache, requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import { withTestFile, type SplitFiles } from './split-files.ts';
import { linesOf, malformed, quoted } from './text-lines.ts';
import { log1p } from '../../../shared/numbers/portable-math.ts';

/** A category has about a hundred to ten million values in a column. */
const FEATURES = 2 ** 18;
const COLUMNS = 1 + DENSE_COLUMNS + CATEGORY_COLUMNS;
const TAB = 9;
const MOST_DIGITS = 16;

interface Contents {
  readonly samples: number;
  readonly clicks: number;
}

const contents = new FileCache((file): Contents => {
  let samples = 0;
  let clicks = 0;
  for (const [line, number] of linesOf(file)) {
    let columns = 1;
    for (let at = line.indexOf(TAB); at >= 0; at = line.indexOf(TAB, at + 1)) columns++;
    if (columns !== COLUMNS) {
      const expected = `expected ${COLUMNS} separated by tabs`;
      throw malformed(file, number, `${columns} columns, ${expected}`);
    }
    clicks += labelOf(line, file, number);
    samples++;
  }
  return { samples, clicks };
});

export const criteo: Dataset = {
  id: 'criteo',
  title: 'Criteo click logs',
  summary: 'Clicks with 13 numbers and 26 categories, from a Criteo file',
  needsData: true,
  readsWhole: true,
  fields: clickFields,
  sampleBytes: CLICK_BYTES,
  features: () => FEATURES,
  inspect: ({ directory, features = FEATURES }) => {
    requireRows(features);
    return sizesOf(filesOf(directory));
  },

  async open({ directory, features = FEATURES, rank, world }) {
    const files = filesOf(directory);
    const collector = new ClickCollector(sizesOf(files), rank, world);
    const read = readerOf(requireRows(features));
    const collect = (
      file: string,
      of: (n: number) => ReturnType<typeof collector.ofSplit>,
    ) => {
      let n = 0;
      for (const [line, number] of linesOf(file)) {
        of(n++)?.add(read(line, file, number));
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
  withTestFile(requireFile(place, 'a file of Criteo’s click logs', 'clicks'));

/** @throws GradwireError `DATA_MISMATCH` where all training samples are of one class */
function sizesOf({ train, test }: SplitFiles): DatasetSize {
  const { samples, clicks } = contents.of(train);
  if (clicks === 0 || clicks === samples) {
    const all = samples === 0 ? 'has no samples' : `has only the label ${clicks && 1}`;
    throw inputError('DATA_MISMATCH', `${train} ${all}, expected 0 and 1`, {
      place: train,
      next: 'Use a file with samples of both classes.',
    });
  }
  if (test !== undefined) return { train: samples, test: contents.of(test).samples };
  return {
    ...splitSizes(samples),
    notice: `${train} has no test part (${train}.t): every tenth sample is used for testing.`,
  };
}

const ZERO = 48;
const NINE = 57;
const MINUS = 45;

function labelOf(line: Buffer, file: string, number: number): 0 | 1 {
  const label = line[0]! - ZERO;
  if ((label === 0 || label === 1) && line[1] === TAB) return label;
  const found = quoted(line.toString('utf8', 0, line.indexOf(TAB)));
  throw malformed(file, number, `column 1: ${found}, expected a label of 0 or 1`);
}

type Read = (line: Buffer, file: string, number: number) => ClickSample;

/** The sample returned is valid until the next line is read. */
function readerOf(rows: number): Read {
  const dense = new Float32Array(DENSE_COLUMNS);
  const categories = new Int32Array(CATEGORY_COLUMNS);
  return (line, file, number) => {
    const label = labelOf(line, file, number);
    let start = line.indexOf(TAB) + 1;
    for (let column = 1; column < COLUMNS; column++) {
      const tab = line.indexOf(TAB, start);
      const value = line.subarray(start, tab < 0 ? line.length : tab);
      const isNumber = column <= DENSE_COLUMNS;
      if (!(isNumber ? isWhole(value) : isHexadecimal(value))) {
        const expected = isNumber
          ? 'a whole number or nothing'
          : `at most ${MOST_DIGITS} hexadecimal digits`;
        const found = quoted(value.toString('utf8'));
        throw malformed(
          file,
          number,
          `column ${column + 1}: ${found}, expected ${expected}`,
        );
      }
      if (isNumber) {
        dense[column - 1] = log1p(Math.max(0, Number(value.toString('latin1'))));
      } else {
        const which = column - 1 - DENSE_COLUMNS;
        categories[which] = categoryRow(value, which, rows);
      }
      start += value.length + 1;
    }
    return { label, dense, categories };
  };
}

/** Numbers with more digits are refused: no count is that large. */
const MOST_WHOLE_DIGITS = 20;

function isWhole(value: Buffer): boolean {
  const from = value[0] === MINUS ? 1 : 0;
  if (from === 1 && value.length === 1) return false;
  if (value.length > MOST_WHOLE_DIGITS) return false;
  return value.subarray(from).every((byte) => byte >= ZERO && byte <= NINE);
}

function isHexadecimal(value: Buffer): boolean {
  const isDigit = (byte: number): boolean => {
    const lower = byte | 0x20;
    return (byte >= ZERO && byte <= NINE) || (lower >= 97 && lower <= 102);
  };
  return value.length <= MOST_DIGITS && value.every(isDigit);
}
