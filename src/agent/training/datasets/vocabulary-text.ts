/**
 * Texts as tokens of a vocabulary (vocabulary.ts), as many as the model knows. Only the
 * training part counts; the rest of a text is cut off before counting.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';
import { formatPercent } from '../../../shared/words/units.ts';
import type { ModelFields } from '../batches/batch.ts';
import type { Dataset } from './dataset.ts';
import { changed, requireNoWideText, requireSame } from './data-file.ts';
import { FileCache } from './sample-file.ts';
import { inParts, readingText, type TextFiles } from './text-files.ts';
import { linesOf, requireUtf8, withoutMark } from './text-lines.ts';
import {
  cutLengths,
  windowCounts,
  windowLength,
  windowShards,
  type PartLengths,
} from './token-windows.ts';
import { byFrequency, Vocabulary, type TokenCounts } from './vocabulary.ts';

export interface TokenKind extends Pick<Dataset, 'id' | 'title' | 'summary'> {
  /** Name of the tokens in the plural, for example "characters". */
  readonly noun: string;
  /** The tokens of a text, in their order. */
  tokens(text: string): Iterable<string>;
  /** The token by which a text itself marks unknown words, such as `<unk>`. */
  readonly unknown?: string | undefined;
  /** Whether rare tokens become unknown if the model's vocabulary is smaller; otherwise an error. */
  readonly cuts: boolean;
}

/** Different ones; a map of V8 takes 2²⁴. */
const MOST_TOKENS = 10_000_000;

/** A text is one string of V8, of half a billion code units at most. */
const MOST_BYTES = 250_000_000;

const TOKEN_BYTES = 4;

interface Contents extends PartLengths {
  /** Tokens of the training part, most frequent first. */
  readonly tokens: readonly string[];
  readonly counts: { readonly train: TokenCounts; readonly test: TokenCounts };
}

export function vocabularyText(kind: TokenKind): Dataset {
  const { id, noun, summary, title } = kind;
  const contents = new FileCache((...files) => count(inParts(files), kind));
  const look = (files: TextFiles, inputs: ModelFields, place: string) => {
    const found = contents.of(...files.train, ...(files.test ?? []));
    const counts = windowCounts(found, windowLength(inputs), place);
    const most = inputs['tokens']?.below ?? Infinity;
    const different = found.tokens.length;
    if (!kind.cuts && different + 1 > most)
      throw overflow(place, different, most, kind);
    return { counts, found, vocabulary: new Vocabulary(found.tokens, most) };
  };
  return {
    id,
    title,
    summary,
    needsData: true,
    readsWhole: true,
    fields: { tokens: { type: 'i32', shape: ['any'], below: 'known' } },

    inspect: ({ directory, inputs }) =>
      readingText(directory, MOST_BYTES, (files, place) => {
        const { counts, found, vocabulary } = look(files, inputs, place);
        const share = (part: 'train' | 'test'): string =>
          formatPercent(vocabulary.unknownShare(found.counts[part]));
        const notice =
          `${vocabulary.size} of ${found.tokens.length} different ${kind.noun} are known; ` +
          `${share('train')} of the training ${kind.noun} and ${share('test')} of the test ` +
          `${kind.noun} are unknown.`;
        return {
          ...counts,
          bytesEach: TOKEN_BYTES * (found.train + found.test),
          notice: files.notice === undefined ? notice : `${files.notice} ${notice}`,
        };
      }),

    async open({ directory, inputs, rank, world }) {
      const shards = readingText(directory, MOST_BYTES, (files, place) => {
        const { found, vocabulary } = look(files, inputs, place);
        const window = windowLength(inputs);
        const all = new Int32Array(found.train + found.test);
        let at = 0;
        for (const token of tokensOf(files, kind))
          all[at++] = vocabulary.numberOf(token);
        requireSame(at, all.length, noun);
        const parts = {
          train: all.subarray(0, found.train),
          test: all.subarray(found.train),
        };
        return windowShards(parts, window, { rank, world });
      });
      return await Promise.resolve(shards);
    },
  };
}

/** All of a text, the training part first. */
function* tokensOf(
  { train, test = [] }: TextFiles,
  kind: TokenKind,
): Generator<string> {
  for (const file of [...train, ...test]) yield* kind.tokens(readText(file));
}

function count(files: TextFiles, kind: TokenKind): Contents {
  const length = (train: readonly string[]): number => {
    const tokens = tokensOf({ train }, kind);
    let found = 0;
    while (tokens.next().done !== true) found++;
    return found;
  };
  const whole = length(files.train);
  const lengths =
    files.test === undefined
      ? cutLengths(whole)
      : { train: whole, test: length(files.test) };
  const train = new Map<string, number>();
  const test = new Map<string, number>();
  let at = 0;
  for (const token of tokensOf(files, kind)) {
    const counts = at++ < lengths.train ? train : test;
    counts.set(token, (counts.get(token) ?? 0) + 1);
    if (counts.size > MOST_TOKENS) throw tooMany(kind);
  }
  const tokens = byFrequency(train).filter((token) => token !== kind.unknown);
  return { ...lengths, tokens, counts: { train, test } };
}

const tooMany = ({ noun }: TokenKind): GradwireError =>
  inputError(
    'DATA_TOO_LARGE',
    `the text has more than ${MOST_TOKENS} different ${noun}`,
    { place: 'workload.data', next: 'Use a part of it, or the data set "text".' },
  );

/** @throws GradwireError `DATA_MISMATCH` where it is not UTF-8 */
function readText(file: string): string {
  const bytes = readFileSync(file);
  requireNoWideText(file, bytes);
  if (isUtf8(bytes) && !bytes.includes(0)) return withoutMark(bytes).toString('utf8');
  // The lines say where.
  for (const [line, number] of linesOf(file)) requireUtf8(line, file, number);
  throw changed(file);
}

const overflow = (
  place: string,
  different: number,
  most: number,
  { noun }: TokenKind,
): GradwireError =>
  inputError(
    'VOCABULARY_OVERFLOW',
    `the training text has ${different} different ${noun}, ${different + 1} with the unknown ` +
      `one, but the model knows ${most}`,
    {
      place,
      next: 'Use a model with a larger vocabulary, or the data set "text", byte by byte.',
    },
  );
