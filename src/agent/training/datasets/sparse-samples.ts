/**
 * Samples in two classes with few features each, in compressed rows: which features a
 * sample has and their values, one sample after the other. A batch has them side by side,
 * filled up with feature 0 of value 0, which adds nothing to a score or a gradient.
 */
import type { BatchValues } from '../batches/batch.ts';
import type { DatasetField, RankShard, Samples } from './dataset.ts';
import { SplitCollector, type SplitSizes } from './sample-split.ts';

export const sparseFields: Readonly<Record<string, DatasetField>> = {
  features: { type: 'i32', shape: ['varies'] },
  values: { type: 'f32', shape: ['varies'] },
  labels: { type: 'i32', shape: [], below: 2 },
};

/** One sample: its class, and as many values as features. */
export interface SparseSample {
  readonly label: 0 | 1;
  readonly features: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** A feature and its value. */
const PAIR_BYTES = 8;
/** The class of a sample and where it begins. */
const SAMPLE_BYTES = 16;
/** The room for pairs doubles as they come: a half more, on the average. */
const SPARE = 1.5;

/** The memory that all samples take together, given their pairs of a feature and a value. */
export const sparseSampleBytes = (samples: number, pairs: number): number =>
  SAMPLE_BYTES * samples + SPARE * PAIR_BYTES * pairs;

class SparseSamples implements Samples {
  /** Features of the sample that has most, at least 1. */
  longest = 1;
  readonly #labels: number[] = [];
  /** Offset of each sample's first entry; last, the number of all entries. */
  readonly #starts: number[] = [0];
  #features = new Int32Array(1024);
  #values = new Float32Array(1024);

  get count(): number {
    return this.#labels.length;
  }

  add({ label, features, values }: SparseSample): void {
    const start = this.#starts.at(-1)!;
    const end = start + features.length;
    while (end > this.#features.length) this.#grow();
    this.#features.set(features, start);
    this.#values.set(values, start);
    this.#starts.push(end);
    this.#labels.push(label);
    this.longest = Math.max(this.longest, features.length);
  }

  read(rows: Uint32Array, { features, values, labels }: BatchValues): void {
    const width = (features ?? values ?? rows).length / rows.length;
    for (let row = 0; row < rows.length; row++) {
      const sample = rows[row]!;
      const start = this.#starts[sample]!;
      const end = this.#starts[sample + 1]!;
      const to = row * width;
      const rest = to + end - start;
      features?.set(this.#features.subarray(start, end), to);
      features?.fill(0, rest, to + width);
      values?.set(this.#values.subarray(start, end), to);
      values?.fill(0, rest, to + width);
      if (labels !== undefined) labels[row] = this.#labels[sample]!;
    }
  }

  #grow(): void {
    const features = new Int32Array(2 * this.#features.length);
    const values = new Float32Array(features.length);
    features.set(this.#features);
    values.set(this.#values);
    this.#features = features;
    this.#values = values;
  }
}

/** Takes the samples of the whole set in their order and keeps those of a rank. */
export class ShardCollector extends SplitCollector<SparseSamples> {
  constructor(sizes: SplitSizes, rank: number, world: number) {
    super({ ...sizes, rank, world }, () => new SparseSamples());
  }

  override shard(): RankShard<SparseSamples> {
    const { train, test } = super.shard();
    const longest = Math.max(train.longest, test.longest);
    return { train, test, lengths: { features: longest, values: longest } };
  }
}
