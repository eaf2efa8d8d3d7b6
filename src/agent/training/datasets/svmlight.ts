/**
 * Sparse samples in the format of SVMlight and LIBSVM (joachims.org/svm_light,
 * csie.ntu.edu.tw/~cjlin/libsvm): a line has a label, +1 or 1 for one class, −1 or 0 for the
 * other, then `feature:value` pairs. `qid:` pairs and comments (#) are skipped.
 * Features are numbered from 0 or from 1: the number is the index of the weight. They may come in
 * any order, but each once: LIBSVM refuses a feature that is repeated, and a sum or the last
 * value would be a guess.
 *
 * The test part is the file NAME.t beside the file NAME, as in LIBSVM's sets. Without it, every
 * tenth sample is.
 */
import type { Dataset, DatasetSize } from './dataset.ts';
import { FileCache, requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import {
  ShardCollector,
  sparseFields,
  sparseSampleBytes,
  type SparseSample,
} from './sparse-samples.ts';
import { withTestFile, type SplitFiles } from './split-files.ts';
import { linesOf, malformed, quoted, textOf } from './text-lines.ts';

interface Contents {
  readonly samples: number;
  /** The highest feature plus 1. */
  readonly features: number;
  /** The first line with it. */
  readonly line: number;
  /** Pairs of a feature and a value. */
  readonly pairs: number;
}

const contents = new FileCache((file): Contents => {
  let samples = 0;
  let highest = 0;
  let at = 0;
  let pairs = 0;
  const labels = new Map<string, number>();
  for (const [line, number] of sampleLines(file)) {
    const { features, name } = parseLine(line, file, number);
    for (const feature of features) {
      if (at > 0 && feature <= highest) continue;
      highest = feature;
      at = number;
    }
    pairs += features.length;
    if (!labels.has(name)) labels.set(name, number);
    samples++;
  }
  requireTwoClasses(labels, file);
  return { samples, features: highest + 1, line: at, pairs };
});

export const svmlight: Dataset = {
  id: 'svmlight',
  title: 'SVMlight file',
  summary:
    'Sparse samples in two classes, from a file in the format of SVMlight or LIBSVM',
  needsData: true,
  readsWhole: true,
  fields: sparseFields,
  features: (directory) => highestOf(directory).features,
  featuresFrom: (directory) => {
    const { features, file, line } = highestOf(directory);
    return {
      what: `feature ${features - 1} in ${file}, line ${line}`,
      place: `${file}:${line}`,
    };
  },
  inspect: ({ directory }) => sizesOf(filesOf(directory)),

  async open({ directory, features = Infinity, rank, world }) {
    const files = filesOf(directory);
    const collector = new ShardCollector(sizesOf(files), rank, world);
    const collect = (
      file: string,
      of: (n: number) => ReturnType<typeof collector.ofSplit>,
    ) => {
      let n = 0;
      for (const [line, number] of sampleLines(file)) {
        const samples = of(n++);
        if (samples === undefined) continue;
        const sample = parseLine(line, file, number);
        for (const feature of sample.features) {
          if (feature < features) continue;
          throw malformed(
            file,
            number,
            `feature ${feature}, but workload.features is ${features}`,
          );
        }
        samples.add(sample);
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

/** The file with the highest feature, and its contents. */
function highestOf(
  directory: string | undefined,
): Contents & { readonly file: string } {
  const { train, test } = filesOf(directory);
  const ofTrain = { ...contents.of(train), file: train };
  if (test === undefined) return ofTrain;
  const ofTest = { ...contents.of(test), file: test };
  return ofTest.features > ofTrain.features ? ofTest : ofTrain;
}

const filesOf = (place: string | undefined): SplitFiles =>
  withTestFile(requireFile(place, 'a file in the format of SVMlight', 'sparse'));

function sizesOf({ train, test }: SplitFiles): DatasetSize {
  const { pairs, samples } = contents.of(train);
  if (test !== undefined) {
    const ofTest = contents.of(test);
    return {
      train: samples,
      test: ofTest.samples,
      bytes: sparseSampleBytes(samples + ofTest.samples, pairs + ofTest.pairs),
    };
  }
  return {
    ...splitSizes(samples),
    bytes: sparseSampleBytes(samples, pairs),
    notice: `${train} has no test part (${train}.t): every tenth sample is used for testing.`,
  };
}

const HASH = 35;

/** The lines that have a sample, with their numbers from 1 on. */
function* sampleLines(
  file: string,
): Generator<readonly [line: string, number: number]> {
  for (const [bytes, number] of linesOf(file)) {
    const comment = bytes.indexOf(HASH);
    const line = comment < 0 ? bytes : bytes.subarray(0, comment);
    const text = textOf(line, file, number).trim();
    if (text !== '') yield [text, number];
  }
}

/** Classes by the numbers that stand for them in files. */
const CLASSES: ReadonlyMap<number, 0 | 1> = new Map([
  [1, 1],
  [-1, 0],
  [0, 0],
]);
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const QUERY = /^qid:\d+$/;
const MOST_FEATURE = 2 ** 30 - 1;

interface ParsedLine extends SparseSample {
  /** The label as a number, in digits. */
  readonly name: string;
  readonly features: number[];
}

function parseLine(line: string, file: string, number: number): ParsedLine {
  const [first, ...pairs] = line.split(/[ \t]+/);
  const name = NUMBER.test(first!) ? Number(first) : NaN;
  const label = CLASSES.get(name);
  if (label === undefined) {
    throw malformed(file, number, `label ${quoted(first!)}, expected −1, 0 or 1`);
  }
  const features: number[] = [];
  const values: number[] = [];
  let isAscending = true;
  for (const pair of pairs) {
    if (QUERY.test(pair)) continue;
    const colon = pair.indexOf(':');
    const feature = numberOf(pair.slice(0, Math.max(0, colon)));
    const text = pair.slice(colon + 1);
    const value = NUMBER.test(text) ? Number(text) : NaN;
    if (!(feature <= MOST_FEATURE) || Number.isNaN(value)) {
      const most = `feature:value with a feature of at most ${MOST_FEATURE}`;
      throw malformed(file, number, `${quoted(pair)}, expected ${most}`);
    }
    if (!Number.isFinite(Math.fround(value))) {
      throw malformed(file, number, `${quoted(pair)}, a value too large for 32 bits`);
    }
    isAscending &&= features.length === 0 || feature > features.at(-1)!;
    features.push(feature);
    values.push(value);
  }
  if (!isAscending) requireOnce(features, file, number);
  return { name: String(name), label, features, values };
}

const numberOf = (name: string): number => (/^\d+$/.test(name) ? Number(name) : NaN);

/** @throws GradwireError `DATA_MISMATCH` for a feature that a sample has twice */
function requireOnce(features: readonly number[], file: string, number: number): void {
  const known = new Set<number>();
  for (const feature of features) {
    if (known.has(feature)) throw malformed(file, number, `feature ${feature} twice`);
    known.add(feature);
  }
}

/**
 * −1 and 0 both name the class that is not 1; in one file they would be two.
 * @param labels with the first line of each
 */
function requireTwoClasses(labels: ReadonlyMap<string, number>, file: string): void {
  const minus = labels.get('-1');
  const zero = labels.get('0');
  if (minus === undefined || zero === undefined) return;
  const line = Math.max(minus, zero);
  const [later, earlier] = minus > zero ? ['-1', '0'] : ['0', '-1'];
  throw malformed(
    file,
    line,
    `label "${later}", after "${earlier}" in line ${Math.min(minus, zero)}: two classes are −1 and 1, or 0 and 1`,
  );
}
