/**
 * Sparse samples in the format of SVMlight and LIBSVM (joachims.org/svm_light,
 * csie.ntu.edu.tw/~cjlin/libsvm): a line has a label, +1 or 1 for one class, −1 or 0 for the
 * other, then `feature:value` pairs. `qid:` pairs and comments (#) are skipped.
 * Features are numbered from 0 or from 1: the number is the index of the weight.
 *
 * The test part is the file NAME.t beside the file NAME, as in LIBSVM's sets. Without it, every
 * tenth sample is.
 */
import type { Dataset, DatasetSize } from './dataset.ts';
import {
  FileCache,
  linesOf,
  malformed,
  quoted,
  requireFile,
  withTestFile,
  type SplitFiles,
} from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import { ShardCollector, sparseFields, type SparseSample } from './sparse-samples.ts';

interface Contents {
  readonly samples: number;
  /** The highest feature plus 1. */
  readonly features: number;
}

const contents = new FileCache((file): Contents => {
  let samples = 0;
  let highest = 0;
  for (const [line, number] of sampleLines(file)) {
    const { features } = parseLine(line, file, number);
    for (const feature of features) highest = Math.max(highest, feature);
    samples++;
  }
  return { samples, features: highest + 1 };
});

export const svmlight: Dataset = {
  id: 'svmlight',
  title: 'SVMlight file',
  summary:
    'Sparse samples in two classes, from a file in the format of SVMlight or LIBSVM',
  needsData: true,
  readsWhole: true,
  fields: sparseFields,
  features: (directory) => {
    const { train, test } = filesOf(directory);
    return Math.max(
      ...[train, ...(test === undefined ? [] : [test])].map(
        (file) => contents.of(file).features,
      ),
    );
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

const filesOf = (place: string | undefined): SplitFiles =>
  withTestFile(requireFile(place, 'a file in the format of SVMlight', 'sparse'));

function sizesOf({ train, test }: SplitFiles): DatasetSize {
  const { samples } = contents.of(train);
  if (test !== undefined) return { train: samples, test: contents.of(test).samples };
  return {
    ...splitSizes(samples),
    notice: `${train} has no test part (${train}.t): every tenth sample is used for testing.`,
  };
}

/** The lines that have a sample, with their numbers from 1 on. */
function* sampleLines(
  file: string,
): Generator<readonly [line: string, number: number]> {
  let number = 0;
  for (const bytes of linesOf(file)) {
    number++;
    const text = bytes.toString('latin1');
    const comment = text.indexOf('#');
    const line = (comment < 0 ? text : text.slice(0, comment)).trim();
    if (line !== '') yield [line, number];
  }
}

const LABELS: Readonly<Record<string, 0 | 1>> = { '+1': 1, '1': 1, '-1': 0, '0': 0 };
const MOST_FEATURE = 2 ** 30 - 1;

function parseLine(
  line: string,
  file: string,
  number: number,
): SparseSample & { readonly features: number[] } {
  const [first, ...pairs] = line.split(/\s+/);
  const label = LABELS[first!] ?? LABELS[String(Number(first))];
  if (label === undefined) {
    throw malformed(file, number, `label ${quoted(first!)}, expected −1, 0 or 1`);
  }
  const features: number[] = [];
  const values: number[] = [];
  for (const pair of pairs) {
    const colon = pair.indexOf(':');
    const name = pair.slice(0, Math.max(0, colon));
    if (name === 'qid') continue;
    const value = pair.slice(colon + 1);
    const feature = /^\d+$/.test(name) ? Number(name) : NaN;
    if (!(feature <= MOST_FEATURE) || value === '' || !Number.isFinite(Number(value))) {
      const most = `feature:value with a feature of at most ${MOST_FEATURE}`;
      throw malformed(file, number, `${quoted(pair)}, expected ${most}`);
    }
    features.push(feature);
    values.push(Number(value));
  }
  return { label, features, values };
}
