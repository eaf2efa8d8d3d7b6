/**
 * Embedded pairs of sequences: a word of three to eight letters out of 14, and the same word
 * reversed, between two marks. 10,000 pairs, generated on demand, the same in every run and on
 * every machine.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import type { BatchValues } from '../batches/batch.ts';
import type { Dataset, Samples } from './dataset.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const TRAIN = 9000;
const TEST = 1000;
const PADDING = 0;
const MARK = 1;
const FIRST_LETTER = 2;
const LETTERS = 14;
const SHORTEST = 3;
const LONGEST = 8;
const TOKENS = FIRST_LETTER + LETTERS;

export const reversal: Dataset = {
  id: 'reversal',
  title: 'Reversal (embedded)',
  summary: '10,000 words of 3 to 8 letters and their reversals, generated on the fly',
  needsData: false,
  fields: {
    source: { type: 'i32', shape: ['varies'], below: TOKENS },
    target: { type: 'i32', shape: ['varies'], below: TOKENS },
  },
  inspect: () => ({ train: TRAIN, test: TEST }),
  open: ({ rank, world }) =>
    Promise.resolve({
      train: new Pairs(0, trainShard(TRAIN, rank, world)),
      test: new Pairs(TRAIN, testShard(TEST, rank, world)),
      lengths: { source: LONGEST, target: LONGEST + 2 },
    }),
};

class Pairs implements Samples {
  readonly count: number;
  readonly #first: number;
  readonly #shard: Shard;
  readonly #random = new RandomSequence({ seed: 1, purpose: purposes.reversal });

  /** @param first number of the part's first pair among all */
  constructor(first: number, shard: Shard) {
    this.count = shard.count;
    this.#first = first;
    this.#shard = shard;
  }

  read(rows: Uint32Array, { source, target }: BatchValues): void {
    source?.fill(PADDING);
    target?.fill(PADDING);
    for (let row = 0; row < rows.length; row++) {
      const word = this.#word(this.#first + this.#shard.sampleAt(rows[row]!));
      source?.set(word, row * LONGEST);
      target?.set([MARK, ...word.reverse(), MARK], row * (LONGEST + 2));
    }
  }

  #word(number: number): number[] {
    const random = this.#random;
    random.rename({ seed: 1, iteration: number, purpose: purposes.reversal });
    const length = SHORTEST + random.below(LONGEST - SHORTEST + 1);
    return Array.from({ length }, () => FIRST_LETTER + random.below(LETTERS));
  }
}
