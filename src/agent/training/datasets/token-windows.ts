/**
 * A text as samples: consecutive windows of tokens, each overlapping the next by one
 * token, which the first predicts and the second begins with. So every token except the
 * first is predicted once.
 */
import { inputError } from '../../../shared/errors/errors.ts';
import { settledLength, type BatchValues, type ModelFields } from '../batches/batch.ts';
import type { RankShard, Samples } from './dataset.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

/** The last tenth of a text is the test part, unless it has a separate one. */
const TRAIN_SHARE = 0.9;

export type Tokens = Uint8Array | Int32Array;

export interface SplitText {
  readonly train: Tokens;
  readonly test: Tokens;
}

/** Tokens in each part. */
export interface PartLengths {
  readonly train: number;
  readonly test: number;
}

export function cutText(tokens: Tokens): SplitText {
  const { train } = cutLengths(tokens.length);
  return { train: tokens.subarray(0, train), test: tokens.subarray(train) };
}

export function cutLengths(tokens: number): PartLengths {
  const train = Math.floor(tokens * TRAIN_SHARE);
  return { train, test: tokens - train };
}

/** Tokens in a window of a model; 2 for a model without tokens. */
export function windowLength({ tokens }: ModelFields): number {
  return Math.max(2, tokens === undefined ? 0 : settledLength(tokens, 1));
}

/** Whole windows in a text of this length. */
function windowsIn(tokens: number, window: number): number {
  return Math.max(0, Math.floor((tokens - 1) / (window - 1)));
}

/** Windows in each part of a text. @throws GradwireError `DATA_TOO_FEW_SAMPLES` */
export function windowCounts(
  { train, test }: PartLengths,
  window: number,
  place: string,
): { readonly train: number; readonly test: number } {
  const counts = { train: windowsIn(train, window), test: windowsIn(test, window) };
  if (counts.train > 0 && counts.test > 0) return counts;
  throw inputError(
    'DATA_TOO_FEW_SAMPLES',
    `${train + test} tokens are too few for a training and a test window of ${window}`,
    { place, next: 'Use a longer text.' },
  );
}

export function windowShards(
  { train, test }: SplitText,
  window: number,
  { rank, world }: { readonly rank: number; readonly world: number },
): RankShard {
  const count = windowsIn(train.length, window);
  const testCount = windowsIn(test.length, window);
  return {
    train: new Windows(train, window, trainShard(count, rank, world)),
    test: new Windows(test, window, testShard(testCount, rank, world)),
  };
}

class Windows implements Samples {
  readonly count: number;
  readonly #tokens: Tokens;
  readonly #window: number;
  readonly #shard: Shard;

  constructor(tokens: Tokens, window: number, shard: Shard) {
    this.count = shard.count;
    this.#tokens = tokens;
    this.#window = window;
    this.#shard = shard;
  }

  read(rows: Uint32Array, { tokens }: BatchValues): void {
    if (tokens === undefined) return;
    const window = this.#window;
    for (let row = 0; row < rows.length; row++) {
      const from = this.#shard.sampleAt(rows[row]!) * (window - 1);
      tokens.set(this.#tokens.subarray(from, from + window), row * window);
    }
  }
}
