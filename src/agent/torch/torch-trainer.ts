/**
 * A replica of one of our models that PyTorch computes, in a process beside the rank. Weights, the
 * optimiser and the data are here, as in every trainer: the process gets weights and samples in
 * shared memory and returns the gradient and the measures there.
 */
import { BatchLoader } from '../training/batch-loader.ts';
import { settledFields, type BatchFields } from '../training/batches/batch.ts';
import type { ParameterArena } from '../training/arena-parameters.ts';
import { Evaluator, evaluationBlock, type Scorer } from '../training/evaluator.ts';
import { fullGradient } from '../training/full-gradient.ts';
import { MeasureTotals } from '../training/measure-totals.ts';
import {
  ParameterTrainer,
  type ParameterTrainerOptions,
} from '../training/parameter-trainer.ts';
import type {
  ComputedStep,
  EvaluationSums,
  GradientMemory,
  ParameterTensor,
  Trainer,
} from '../training/trainer.ts';
import { Desk, measuresOf, tablesOf, tensorsOf, type Slot } from './desk.ts';
import { ProcessWeights } from './process-weights.ts';
import type { TorchProcess } from './torch-process.ts';

export interface TorchTrainerParts extends Omit<ParameterTrainerOptions, 'elsewhere'> {
  readonly process: TorchProcess;
}

export class TorchTrainer extends ParameterTrainer implements Trainer {
  readonly #parts: TorchTrainerParts;
  readonly #process: TorchProcess;
  readonly #desk: Desk;
  readonly #train: BatchLoader;
  readonly #evaluator: Evaluator;
  readonly #ofProcess: ProcessWeights;

  private constructor(parts: TorchTrainerParts, fields: BatchFields, desk: Desk) {
    const { model, options, process, shard } = parts;
    super({ ...parts, elsewhere: { backend: 'torch', device: process.device } }, model);
    this.#parts = parts;
    this.#process = process;
    this.#desk = desk;
    const { statistics, test, train } = desk.slots;
    const batch = options.batchPerRank;
    this.#train = new BatchLoader(shard.train, fields, batch, train.values);
    this.#ofProcess = new ProcessWeights({
      process,
      desk,
      weights: this.weights,
      request: {
        model: model.id,
        predictions: batch * model.predictions,
        tensors: tensorsOf(model),
      },
    });
    this.#evaluator = new Evaluator({
      model,
      shard,
      fields,
      options,
      scorer: this.#scorer(),
      block: evaluationBlock(model, batch),
      memory: { test: test.values, statistics: statistics.values },
    });
  }

  /** @throws GradwireError `BRIDGE_UNAVAILABLE` */
  static async open(parts: TorchTrainerParts): Promise<TorchTrainer> {
    const { model, options, shard } = parts;
    const fields = settledFields(model.inputs, shard.lengths);
    const batch = options.batchPerRank;
    const desk = await Desk.open({
      fields,
      tables: tablesOf(model),
      sums: model.metric.sums,
      statistics: (model.statistics ?? []).map(({ shape }) => shape),
      rows: { train: batch, test: evaluationBlock(model, batch), statistics: batch },
    });
    return new TorchTrainer(parts, fields, desk);
  }

  openGpuGradient(): undefined {
    return undefined;
  }

  override async joinArena(memory: ParameterArena): Promise<void> {
    await super.joinArena(memory);
    await this.#ofProcess.joinArena(memory);
  }

  loadBatch(iteration: number): void {
    this.sampler.fill(iteration, this.#train.rows);
    this.#train.read(this.#train.rows.length);
  }

  async computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedStep> {
    if (!(gradient instanceof Float32Array)) {
      throw new Error('internal: PyTorch’s gradient is on the host');
    }
    this.weights.checkLength(gradient, this.length);
    const { batchPerRank } = this.#parts.options;
    await this.#compute(batchPerRank, gradient, ready);
    const totals = new MeasureTotals(this.#parts.model.metric);
    await totals.add(measuresOf(this.#desk.slots.train.measures), batchPerRank);
    return this.measuresOfBatch(totals);
  }

  async computeFullGradient(out: Float32Array): Promise<void> {
    const { rows: batch, samples } = this.#train;
    await fullGradient(
      {
        samples: samples.count,
        batch: batch.length,
        gradientOf: async (first, rows, part) => {
          for (const row of batch.keys()) batch[row] = first + (row % rows);
          this.#train.read(rows);
          await this.#compute(rows, part);
        },
      },
      out,
    );
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    await this.weights.step(gradient as Float32Array, iteration);
    this.#ofProcess.moved();
  }

  override async writeWeights(weights: Float32Array): Promise<void> {
    await super.writeWeights(weights);
    this.#ofProcess.moved();
  }

  async evaluate(): Promise<EvaluationSums> {
    const { count } = this.#parts.shard.test;
    return this.evaluated(await this.#evaluator.evaluate(), count);
  }

  override close(): void {
    this.#process.close();
    super.close();
  }

  /** The gradient of the first rows of the batch. */
  async #compute(
    rows: number,
    gradient: Float32Array,
    ready?: (from: number) => void,
  ): Promise<void> {
    const { train } = this.#desk.slots;
    const isFresh = await this.#renew(train, this.#train);
    const vectors = await this.#ofProcess.share();
    const { gradient: shared } = vectors;
    const isInPlace = vectors.isGradient(gradient);
    const reported: ParameterTensor[] = [...this.weights.whole];
    const fetch = (from: number): void => {
      for (;;) {
        const last = reported.at(-1);
        if (last === undefined || last.start < from) return;
        reported.pop();
        if (isInPlace) continue;
        const { length, start } = last;
        gradient.set(shared.subarray(start, start + length), start);
      }
    };
    await this.#process.compute(
      { type: 'gradient', rows, reports: ready !== undefined, isFresh },
      ready &&
        ((from) => {
          fetch(from);
          ready(from);
        }),
    );
    fetch(0);
    this.weights.tables.scatter(train.rowGradients, this.#firstOf(rows), gradient);
    ready?.(0);
  }

  /** Fields of the first rows of the batch. */
  #firstOf(rows: number): BatchLoader['values'] {
    const { rows: all, values } = this.#train;
    return Object.fromEntries(
      Object.entries(values).map(([name, field]) => [
        name,
        field.subarray(0, (field.length / all.length) * rows),
      ]),
    );
  }

  #scorer(): Scorer {
    const { slots, statistics } = this.#desk;
    return {
      score: async (loader, given) => {
        const isFresh = await this.#renew(slots.test, loader);
        for (const [which, values] of given.entries()) statistics[which]!.set(values);
        const isGiven = given.length > 0;
        await this.#process.compute({ type: 'score', isGiven, isFresh });
        return measuresOf(slots.test.measures);
      },
      statistics: async (loader) => {
        const isFresh = await this.#renew(slots.statistics, loader);
        await this.#process.compute({ type: 'statistics', isFresh });
        return statistics;
      },
    };
  }

  /** Gives the process what samples need of the weights. Resolves to whether these have changed. */
  async #renew({ rows }: Slot, loader: BatchLoader): Promise<boolean> {
    const isFresh = await this.#ofProcess.renew();
    this.#ofProcess.renewRows(rows, loader.values);
    return isFresh;
  }
}
