/**
 * Texts in two classes as sparse samples: a file with a label, a tabulator and a text in each
 * line. The features of a text are its trigrams of bytes (UTF-8), hashed; the value of one is
 * how often it occurs, and a text's values have a sum of squares of 1. With 2²⁴ features, as
 * many as there are trigrams, hardly any two share a weight: the shape of Webspam.
 *
 * A first line whose label is `label` or `class`, and that of no other line, names the columns.
 */
import { inputError } from '../../../shared/errors/errors.ts';
import type { Dataset } from './dataset.ts';
import { finalHash } from './murmur-hash.ts';
import { FileCache, requireFile } from './sample-file.ts';
import { splitSizes } from './sample-split.ts';
import {
  ShardCollector,
  sparseFields,
  sparseSampleBytes,
  type SparseSample,
} from './sparse-samples.ts';
import { linesOf, malformed, quoted, requireUtf8 } from './text-lines.ts';

const TRIGRAM_FEATURES = 2 ** 24;
const TAB = 9;
const RETURN = 13;

interface Contents {
  readonly samples: number;
  /** Trigrams of all texts, of which some may be the same. */
  readonly trigrams: number;
  /** The two labels in the order of their names: classes 0 and 1. */
  readonly labels: readonly string[];
  /** Whether the first line names the columns. */
  readonly hasHeader: boolean;
}

/** Names of the column of labels, in lower case. */
const HEADERS: ReadonlySet<string> = new Set(['label', 'class']);

const contents = new FileCache((file): Contents => {
  /** Occurrences of each label, and the first line that has it. */
  const found = new Map<string, { count: number; readonly line: number }>();
  let trigrams = 0;
  for (const [line, number] of linesOf(file)) {
    requireUtf8(line, file, number);
    const label = labelOf(line, file, number);
    const known = found.get(label);
    if (known !== undefined) known.count++;
    else found.set(label, { count: 1, line: number });
    if (found.size > 3) break;
    trigrams += Math.max(0, line.length - line.indexOf(TAB) - 3);
  }
  const [first] = found;
  const hasHeader =
    found.size === 3 && first![1].count === 1 && HEADERS.has(first![0].toLowerCase());
  if (hasHeader) found.delete(first![0]);
  const samples = [...found.values()].reduce((sum, { count }) => sum + count, 0);
  const labels = [...found.keys()];
  if (labels.length === 2) {
    return { samples, trigrams, labels: labels.sort(), hasHeader };
  }
  const shown = labels.slice(0, 3).map(quoted).join(', ');
  const many = labels.length > 3 ? 'more than 3' : labels.length;
  const what = `${many} labels (${shown}), expected two`;
  const rare = [...found].find(([, { count }]) => count === 1);
  if (labels.length === 1) requireNoReturn(file);
  if (labels.length !== 3 || rare === undefined) {
    throw inputError('DATA_MISMATCH', `${file} has ${what}`, {
      place: file,
      next: 'Write a label, a tab and a text on each line.',
    });
  }
  const [label, { line }] = rare;
  throw malformed(file, line, `no other line has the label ${quoted(label)}; ${what}`, {
    next:
      line === first![1].line
        ? 'Correct the label. If the line names the columns, call the first one label.'
        : 'Correct the label.',
  });
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
    const { hasHeader, labels, samples, trigrams } = contents.of(fileAt(directory));
    const header = hasHeader ? 'the first line names the columns; ' : '';
    return {
      ...splitSizes(samples),
      bytes: sparseSampleBytes(samples, trigrams),
      notice: `${header}class 0 is "${labels[0]}", class 1 is "${labels[1]}"; every tenth text is used for testing.`,
    };
  },

  async open({ directory, features = TRIGRAM_FEATURES, rank, world }) {
    const file = fileAt(directory);
    const { hasHeader, labels, samples } = contents.of(file);
    const collector = new ShardCollector(splitSizes(samples), rank, world);
    let n = hasHeader ? -1 : 0;
    for (const [line, number] of linesOf(file)) {
      const to = n < 0 ? undefined : collector.ofSplit(n);
      n++;
      if (to === undefined) continue;
      const label = labels.indexOf(labelOf(line, file, number)) === 1 ? 1 : 0;
      to.add({ label, ...trigramsOf(line.subarray(line.indexOf(TAB) + 1), features) });
    }
    return await Promise.resolve(collector.shard());
  },
};

/** @throws GradwireError `DATA_MISMATCH` where returns alone end lines, as if all were one */
function requireNoReturn(file: string): void {
  for (const [line, number] of linesOf(file)) {
    const at = line.indexOf(RETURN);
    if (at < 0) continue;
    throw malformed(file, number, 'a carriage return that does not end a line', {
      column: at + 1,
      next: 'End lines with a newline, alone or after a carriage return.',
    });
  }
}

const fileAt = (place: string | undefined): string =>
  requireFile(place, 'a file of labelled texts', 'sparse');

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
