/**
 * The test samples of a rank under the current weights, block by block. A model with statistics
 * is evaluated with those of its first training batches under these weights, independent of
 * earlier training: a resumed run, or one whose weights were exchanged, measures the same
 * (docs/decisions/043-batch-norm.md).
 */
import { BatchLoader } from './batch-loader.ts';
import { BatchSampler } from './batches/batch-sampler.ts';
import type { BatchFields } from './batches/batch.ts';
import type { CompiledFunctions } from './compiled-functions.ts';
import type { RankShard } from './datasets/dataset.ts';
import { MeasureTotals } from './measure-totals.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import type { Model } from './models/model.ts';
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';
import { StatisticMeans } from './statistic-means.ts';

/** Test samples per call of the compiled scores; the last block is padded. */
const BLOCK = 250;
/**
 * The least number of training samples behind the statistics. 10³ to 10⁴ are enough (Wu and Johnson,
 * "Rethinking 'Batch' in BatchNorm", 2021, section 3).
 */
const STATISTICS_SAMPLES = 1024;

export interface EvaluatorOptions {
  readonly jax: Jax;
  readonly model: Model;
  readonly functions: CompiledFunctions;
  readonly shard: RankShard;
  readonly fields: BatchFields;
  readonly options: {
    readonly batchPerRank: number;
    readonly seed: number;
    readonly rank: number;
  };
  /** The weights that a loaded batch uses, to be consumed. */
  weightsFor(loader: BatchLoader): UsedWeights;
  /** Test samples in a block; default: a number that is fast. */
  readonly block?: number | undefined;
}

export class Evaluator {
  readonly #parts: EvaluatorOptions;
  readonly #test: BatchLoader;
  /** Training batches for the statistics; undefined for a model without. */
  readonly #train: BatchLoader | undefined;
  readonly #sampler: BatchSampler | undefined;

  constructor(parts: EvaluatorOptions) {
    this.#parts = parts;
    const { model, shard, fields, options } = parts;
    const { batchPerRank: batch, seed, rank } = options;
    // Models with statistics are deep; memory that suffices for training suffices for
    // evaluation.
    const most = model.statistics === undefined ? BLOCK : Math.min(BLOCK, batch);
    this.#test = new BatchLoader(shard.test, fields, parts.block ?? most);
    if (model.statistics === undefined) return;
    this.#train = new BatchLoader(shard.train, fields, batch);
    this.#sampler = new BatchSampler({
      count: shard.train.count,
      batch,
      seed,
      rank,
    });
  }

  async evaluate(): Promise<MeasureTotals> {
    const { jax, functions, model } = this.#parts;
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
      const measures = functions.score(
        this.#parts.weightsFor(test),
        test.upload(jax),
        jax.numpy.array(test.counted),
        jax.tree.ref(statistics),
      );
      await totals.add(measures, filled);
    }
    jax.tree.dispose(statistics);
    return totals;
  }

  /**
   * Computes the model's statistics over the batches of the first iterations; none if it has none.
   */
  async #statistics(): Promise<JaxArray[]> {
    const { jax, functions, model } = this.#parts;
    const [train, sampler] = [this.#train, this.#sampler];
    if (train === undefined || sampler === undefined) return [];
    const batches = Math.ceil(STATISTICS_SAMPLES / sampler.batch);
    const means = new StatisticMeans(model.statistics!);
    for (let iteration = 0; iteration < batches; iteration++) {
      sampler.fill(iteration, train.rows);
      train.read(train.rows.length);
      const given = functions.statistics(
        this.#parts.weightsFor(train),
        train.upload(jax),
      );
      means.add(await Promise.all(given.map((array) => array.data())));
    }
    return means.values().map((values, which) =>
      jax.numpy.array(values as Float32Array<ArrayBuffer>, {
        shape: [...model.statistics![which]!.shape],
      }),
    );
  }
}
