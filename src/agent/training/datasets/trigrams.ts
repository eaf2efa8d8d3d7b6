/**
 * Texts in two classes as sparse samples: a file with a label, a tabulator and a text in each
 * line. The features of a text are its trigrams of bytes (UTF-8), hashed; the value of one is
 * how often it occurs, and a text's values have a sum of squares of 1. With 2²⁴ features, as
 * many as there are trigrams, hardly any two share a weight: the shape of Webspam.
 */
import { inputError } from '../../../shared/errors.ts';
import type { Dataset } from './dataset.ts';
import { finalHash } from './murmur-hash.ts';
import { FileCache, linesOf, malformed, requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import { ShardCollector, sparseFields, type SparseSample } from './sparse-samples.ts';

const TRIGRAM_FEATURES = 2 ** 24;
const TAB = 9;

interface Contents {
  readonly samples: number;
  /** In the order of their names: classes 0 and 1. */
  readonly labels: readonly string[];
  /** Whether the first line names the columns. */
  readonly hasHeader: boolean;
}

const contents = new FileCache((file): Contents => {
  const counts = new Map<string, number>();
  let first: string | undefined;
  for (const [line, number] of textLines(file)) {
    const label = labelOf(line, file, number);
    first ??= label;
    counts.set(label, (counts.get(label) ?? 0) + 1);
    if (counts.size > 3) break;
  }
  // A label that no other line has is the name of the column.
  const hasHeader = counts.size === 3 && counts.get(first!) === 1;
  if (hasHeader) counts.delete(first!);
  const labels = [...counts.keys()].sort();
  if (labels.length !== 2) {
    const shown = labels.slice(0, 3).map((label) => JSON.stringify(label.slice(0, 20)));
    throw inputError(
      'DATA_MISMATCH',
      `${file} has ${labels.length > 3 ? 'more than 3' : labels.length} labels ` +
        `(${shown.join(', ')}), expected two`,
      { place: file, next: 'Write a label, a tab and a text on each line.' },
    );
  }
  const samples = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return { samples, labels, hasHeader };
});

export const trigrams: Dataset = {
  id: 'trigrams',
  title: 'Texts by trigrams',
  summary: 'A file of labelled texts in two classes, as hashed trigrams',
  needsData: true,
  readsWhole: true,
  fields: sparseFields,
  features: () => TRIGRAM_FEATURES,
  inspect: ({ directory }) => {
    const { labels, samples } = contents.of(fileAt(directory));
    return {
      ...splitSizes(samples),
      notice: `class 0 is "${labels[0]}", class 1 is "${labels[1]}"; every tenth text is used for testing.`,
    };
  },

  async open({ directory, features = TRIGRAM_FEATURES, rank, world }) {
    const file = fileAt(directory);
    const { hasHeader, labels, samples } = contents.of(file);
    const collector = new ShardCollector(splitSizes(samples), rank, world);
    let n = hasHeader ? -1 : 0;
    for (const [line, number] of textLines(file)) {
      const to = n < 0 ? undefined : collector.ofSplit(n);
      n++;
      if (to === undefined) continue;
      const label = labels.indexOf(labelOf(line, file, number)) === 1 ? 1 : 0;
      to.add({ label, ...trigramsOf(line.subarray(line.indexOf(TAB) + 1), features) });
    }
    return await Promise.resolve(collector.shard());
  },
};

const fileAt = (place: string | undefined): string =>
  requireFile(place, 'a file of labelled texts', 'sparse');

/** The lines that are not empty, with their numbers from 1 on. */
function* textLines(file: string): Generator<readonly [line: Buffer, number: number]> {
  let number = 0;
  for (const line of linesOf(file)) {
    number++;
    if (line.length > 0) yield [line, number];
  }
}

function labelOf(line: Buffer, file: string, number: number): string {
  const tab = line.indexOf(TAB);
  if (tab > 0) return line.toString('utf8', 0, tab);
  throw malformed(file, number, 'no label, expected a label, a tab and a text');
}

/** The features of a text, each once, ascending, and their values. */
export function trigramsOf(
  text: Uint8Array,
  features: number,
): Pick<SparseSample, 'features' | 'values'> {
  const counts = new Map<number, number>();
  for (let i = 0; i + 2 < text.length; i++) {
    const trigram = (text[i]! << 16) | (text[i + 1]! << 8) | text[i + 2]!;
    const feature = finalHash(trigram) % features;
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const norm = Math.sqrt(sorted.reduce((sum, [, count]) => sum + count * count, 0));
  return {
    features: sorted.map(([feature]) => feature),
    values: sorted.map(([, count]) => count / norm),
  };
}
