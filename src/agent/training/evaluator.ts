/**
 * The test samples of a rank under the current weights, block by block. A model with statistics
 * is evaluated with those of its first training batches under these weights, independent of
 * earlier training: a resumed run, or one whose weights were exchanged, measures the same
 * (docs/decisions/043-batch-norm.md).
 */
import { BatchLoader } from './batch-loader.ts';
import { BatchSampler } from './batches/batch-sampler.ts';
import type { BatchFields, BatchValues } from './batches/batch.ts';
import type { RankShard } from './datasets/dataset.ts';
import { MeasureTotals, type Measure } from './measure-totals.ts';
import type { Model } from './models/model.ts';
import { StatisticMeans } from './statistic-means.ts';

/** Test samples per call of the compiled scores; the last block is padded. */
const BLOCK = 250;
/**
 * The least number of training samples behind the statistics, if the rank has that many: another
 * pass over the same ones tells nothing new. 10³ to 10⁴ are enough (Wu and Johnson, "Rethinking
 * 'Batch' in BatchNorm", 2021, section 3).
 */
const STATISTICS_SAMPLES = 1024;

/** Computes for an evaluation, under the current weights. */
export interface Scorer {
  /**
   * The measures of loaded samples (`measuresOf`).
   * @param statistics to evaluate with, in the model's order; none if it has none
   */
  score(
    loader: BatchLoader,
    statistics: readonly Float32Array[],
  ): Promise<readonly Measure[]>;
  /** The statistics of a loaded training batch, in the model's order. */
  statistics(loader: BatchLoader): Promise<readonly ArrayLike<number>[]>;
}

export interface EvaluatorOptions {
  readonly model: Model;
  readonly scorer: Scorer;
  readonly shard: RankShard;
  readonly fields: BatchFields;
  readonly options: {
    readonly batchPerRank: number;
    readonly seed: number;
    readonly rank: number;
  };
  /** Test samples in a block (`evaluationBlock`). */
  readonly block: number;
  /** Memory for the samples; default: the loaders' own. */
  readonly memory?: Readonly<Record<'test' | 'statistics', BatchValues>> | undefined;
}

/** Test samples that are evaluated at once: a number that is fast. */
export const evaluationBlock = (
  { statistics }: Pick<Model, 'statistics'>,
  batch: number,
): number =>
  // Models with statistics are deep; memory that suffices for training suffices for evaluation.
  statistics === undefined ? BLOCK : Math.min(BLOCK, batch);

export class Evaluator {
  readonly #parts: EvaluatorOptions;
  readonly #test: BatchLoader;
  /** Training batches for the statistics; undefined for a model without. */
  readonly #train: BatchLoader | undefined;
  readonly #sampler: BatchSampler | undefined;

  constructor(parts: EvaluatorOptions) {
    this.#parts = parts;
    const { block, memory, model, shard, fields, options } = parts;
    const { batchPerRank: batch, seed, rank } = options;
    this.#test = new BatchLoader(shard.test, fields, block, memory?.test);
    if (model.statistics === undefined) return;
    this.#train = new BatchLoader(shard.train, fields, batch, memory?.statistics);
    this.#sampler = new BatchSampler({
      count: shard.train.count,
      batch,
      seed,
      rank,
    });
  }

  async evaluate(): Promise<MeasureTotals> {
    const { model, scorer } = this.#parts;
    const statistics = await this.#statistics();
    const test = this.#test;
    const block = test.rows.length;
    const samples = test.samples.count;
    const totals = new MeasureTotals(model.metric);
    for (let first = 0; first < samples; first += block) {
      const filled = Math.min(block, samples - first);
      for (let row = 0; row < block; row++) {
        test.rows[row] = row < filled ? first + row : 0;
      }
      test.read(filled);
      await totals.add(await scorer.score(test, statistics), filled);
    }
    return totals;
  }

  /**
   * Computes the model's statistics over the batches of the first iterations; none if it has none.
   */
  async #statistics(): Promise<readonly Float32Array[]> {
    const { model, scorer } = this.#parts;
    const [train, sampler] = [this.#train, this.#sampler];
    if (train === undefined || sampler === undefined) return [];
    const samples = Math.min(STATISTICS_SAMPLES, train.samples.count);
    const batches = Math.ceil(samples / sampler.batch);
    const means = new StatisticMeans(model.statistics!);
    for (let iteration = 0; iteration < batches; iteration++) {
      sampler.fill(iteration, train.rows);
      train.read(train.rows.length);
      means.add(await scorer.statistics(train));
    }
    return means.values();
  }
}
