/**
 * The embedded text: 200,000 bytes of English-like sentences about a laboratory, generated on
 * demand, the same in every run and on every machine. Much of it can be
 * learnt (spelling, agreement of verbs, who does what), and some cannot, so the perplexity
 * falls far but stays above 1.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import type { Dataset } from './dataset.ts';
import {
  cutLengths,
  cutText,
  windowCounts,
  windowLength,
  windowShards,
} from './token-windows.ts';

const LENGTH = 200_000;

const PEOPLE = ['student', 'engineer', 'director', 'reviewer', 'visitor', 'founder'];
const THINGS = ['gradient', 'network', 'cable', 'batch', 'model', 'figure', 'kernel'];
const KINDS = ['small', 'careful', 'noisy', 'sparse', 'old', 'patient', 'quick'];
/** Verbs for a singular and for a plural subject. */
const DEEDS = [
  ['measures', 'measure'],
  ['repairs', 'repair'],
  ['compresses', 'compress'],
  ['forgets', 'forget'],
  ['doubts', 'doubt'],
  ['explains', 'explain'],
] as const;
const TIMES = ['today', 'every night', 'before lunch', 'again', 'without a word'];

export const sentences: Dataset = {
  id: 'sentences',
  title: 'Sentences (embedded)',
  summary: '200,000 bytes of English-like sentences, generated on the fly',
  needsData: false,
  fields: { tokens: { type: 'i32', shape: ['any'], below: 128 } },
  inspect: ({ inputs }) => ({
    ...windowCounts(cutLengths(LENGTH), windowLength(inputs), 'sentences'),
    bytesEach: LENGTH,
  }),
  open: ({ inputs, rank, world }) =>
    Promise.resolve(
      windowShards(cutText(writeSentences()), windowLength(inputs), { rank, world }),
    ),
};

export function writeSentences(): Uint8Array {
  const random = new RandomSequence({ seed: 1, purpose: purposes.sentences });
  const one = <T>(choices: readonly T[]): T => choices[random.below(choices.length)]!;
  const named = (
    names: readonly string[],
  ): readonly [text: string, several: boolean] => {
    const several = random.below(3) === 0;
    const kind = random.below(2) === 0 ? `${one(KINDS)} ` : '';
    const words = `${kind}${one(names)}`;
    if (several) return [`the ${words}s`, true];
    const article = /^[aeiou]/.test(words) ? 'an' : 'a';
    return [`${one(['the', article])} ${words}`, false];
  };
  let text = '';
  while (text.length < LENGTH) {
    const [who, several] = named(PEOPLE);
    const [deed, deeds] = one(DEEDS);
    const time = random.below(3) === 0 ? ` ${one(TIMES)}` : '';
    text += `${who} ${several ? deeds : deed} ${named(THINGS)[0]}${time}.\n`;
  }
  return Buffer.from(text.slice(0, LENGTH), 'latin1');
}
