/**
 * Click logs in the form for training: a click or none, 13 numbers and 26 categories, each of
 * which is a row of one shared table. For linear models the same samples have 39 features: a
 * number is the value of the feature of its column, one of the first 13, a category the feature
 * of its row with the value 1.
 */
import { inputError } from '../../../shared/errors/errors.ts';
import { CATEGORY_COLUMNS, DENSE_COLUMNS } from '../batches/click-fields.ts';
import type { BatchValues } from '../batches/batch.ts';
import type { DatasetField, RankShard, Samples } from './dataset.ts';
import { murmurHash } from './murmur-hash.ts';
import { SplitCollector, type SplitSizes } from './sample-split.ts';

const COLUMNS = DENSE_COLUMNS + CATEGORY_COLUMNS;

export const clickFields: Readonly<Record<string, DatasetField>> = {
  dense: { type: 'f32', shape: [DENSE_COLUMNS] },
  categories: { type: 'i32', shape: [CATEGORY_COLUMNS] },
  features: { type: 'i32', shape: [COLUMNS] },
  values: { type: 'f32', shape: [COLUMNS] },
  labels: { type: 'i32', shape: [], below: 2 },
};

/** One sample. Its arrays may be reused for the next. */
export interface ClickSample {
  readonly label: number;
  /** 13 numbers, 0 where there is none. */
  readonly dense: ArrayLike<number>;
  /** 26 rows. */
  readonly categories: ArrayLike<number>;
}

/** A sample in memory: its label, numbers and rows. */
export const CLICK_BYTES = 4 * (1 + COLUMNS);

class ClickSamples implements Samples {
  readonly #dense: Float32Array;
  readonly #categories: Int32Array;
  readonly #labels: Int32Array;
  #count = 0;

  /** @param room samples that there is room for */
  constructor(room: number) {
    this.#dense = new Float32Array(room * DENSE_COLUMNS);
    this.#categories = new Int32Array(room * CATEGORY_COLUMNS);
    this.#labels = new Int32Array(room);
  }

  get count(): number {
    return this.#count;
  }

  add({ label, dense, categories }: ClickSample): void {
    const at = this.#count++;
    this.#labels[at] = label;
    this.#dense.set(dense, at * DENSE_COLUMNS);
    this.#categories.set(categories, at * CATEGORY_COLUMNS);
  }

  read(rows: Uint32Array, batch: BatchValues): void {
    const { categories, dense, features, labels, values } = batch;
    for (let row = 0; row < rows.length; row++) {
      const sample = rows[row]!;
      const numbers = this.#dense.subarray(
        sample * DENSE_COLUMNS,
        (sample + 1) * DENSE_COLUMNS,
      );
      const used = this.#categories.subarray(
        sample * CATEGORY_COLUMNS,
        (sample + 1) * CATEGORY_COLUMNS,
      );
      if (labels !== undefined) labels[row] = this.#labels[sample]!;
      dense?.set(numbers, row * DENSE_COLUMNS);
      categories?.set(used, row * CATEGORY_COLUMNS);
      const from = row * COLUMNS;
      const behind = from + DENSE_COLUMNS;
      for (let i = 0; i < DENSE_COLUMNS; i++) {
        if (features !== undefined) features[from + i] = i;
      }
      features?.set(used, behind);
      values?.set(numbers, from);
      values?.fill(1, behind, from + COLUMNS);
    }
  }
}

/** Takes the samples of the whole set in order and keeps those of a rank. */
export class ClickCollector extends SplitCollector<ClickSamples> {
  constructor(sizes: SplitSizes, rank: number, world: number) {
    super({ ...sizes, rank, world }, (count) => new ClickSamples(count));
  }

  override shard(): RankShard<ClickSamples> {
    return { ...super.shard(), lengths: { features: COLUMNS, values: COLUMNS } };
  }
}

/**
 * The row of a category: MurmurHash3 of its text, with the number of its column as the seed,
 * among those rows that are not of columns of numbers. Different categories may share a row.
 */
export function categoryRow(text: Uint8Array, column: number, rows: number): number {
  return DENSE_COLUMNS + (murmurHash(text, column) % (rows - DENSE_COLUMNS));
}

/** @throws GradwireError `FEATURES_TOO_FEW` where categories have no row */
export function requireRows(features: number): number {
  if (features > DENSE_COLUMNS) return features;
  throw inputError(
    'FEATURES_TOO_FEW',
    `${features} features are too few: the first ${DENSE_COLUMNS} are for numeric columns, ` +
      'and categories need at least one more',
    { place: 'workload.features', next: `Use at least ${DENSE_COLUMNS + 1}.` },
  );
}
