/** A stage's layers, computed by PyTorch in a process beside the rank, as `torch-trainer.ts` has a replica. */
import type { ParameterArena } from '../training/arena-parameters.ts';
import { BatchLoader } from '../training/batch-loader.ts';
import {
  rowLength,
  settledFields,
  type BatchFields,
} from '../training/batches/batch.ts';
import type { Measure } from '../training/measure-totals.ts';
import type { ModelParameters } from '../training/model-parameters.ts';
import type { LayerOutput } from '../training/models/layered.ts';
import type { Model } from '../training/models/model.ts';
import type { ModelStage } from '../training/models/split-model.ts';
import type { ParameterTrainerOptions } from '../training/parameter-trainer.ts';
import type { StageComputer, StageLosses } from '../training/stage-computer.ts';
import {
  borrowedBy,
  borrowedShapes,
  type StageSizes,
} from '../training/stage-functions.ts';
import { Desk, measuresOf, tablesOf, tensorsOf } from './desk.ts';
import type { StageRequest } from './messages.ts';
import { ProcessWeights } from './process-weights.ts';
import type { TorchProcess } from './torch-process.ts';

interface TorchStageParts extends StageSizes, Pick<ParameterTrainerOptions, 'shard'> {
  readonly process: TorchProcess;
  readonly model: Model;
  readonly stage: ModelStage;
}

export class TorchStage implements StageComputer {
  readonly microBatches: readonly BatchLoader[];
  readonly test: BatchLoader;
  readonly #parts: TorchStageParts;
  readonly #desk: Desk;
  readonly #weights: ModelParameters;
  readonly #ofProcess: ProcessWeights;
  #gradient: Float32Array = new Float32Array();

  /** @param desk from `openDesk` */
  constructor(parts: TorchStageParts, desk: Desk, weights: ModelParameters) {
    const { microBatches, model, process, samples, shard, stage } = parts;
    this.#parts = parts;
    this.#desk = desk;
    this.#weights = weights;
    const fields = fieldsOf(parts);
    const { test, train } = desk.slots;
    this.microBatches = Array.from({ length: microBatches }, (_, i) => {
      const values = Object.entries(train.values).map(([name, all]) => {
        const each = samples * rowLength(fields[name]!);
        return [name, all.subarray(i * each, (i + 1) * each)];
      });
      return new BatchLoader(
        shard.train,
        fields,
        samples,
        Object.fromEntries(values) as BatchLoader['values'],
      );
    });
    this.test = new BatchLoader(shard.test, fields, samples, test.values);
    const names = borrowedBy(stage);
    this.#ofProcess = new ProcessWeights({
      process,
      desk,
      weights,
      request: {
        model: model.id,
        predictions: samples * microBatches * model.predictions,
        tensors: tensorsOf({ tensors: stage.tensors.map(({ tensor }) => tensor) }),
        stage: {
          layers: stage.layers.map(({ name }) => name),
          hasHead: stage.head !== undefined,
          samples,
          ...desk.passed.places,
          borrowed: desk.passed.borrowedPlaces.map((places, i) => {
            return { name: names[i]!, ...places };
          }),
        },
      },
    });
  }

  /** @throws GradwireError `BRIDGE_UNAVAILABLE` */
  static openDesk(parts: TorchStageParts): Promise<Desk> {
    const { microBatches, model, samples, stage } = parts;
    const passed = (output: LayerOutput | undefined) =>
      output && [samples * output.rows, output.width];
    return Desk.open({
      fields: fieldsOf(parts),
      tables: tablesOf({ tensors: stage.tensors.map(({ tensor }) => tensor) }),
      sums: stage.head === undefined ? 0 : model.metric.sums,
      statistics: [],
      rows: { train: samples * microBatches, test: samples, statistics: 1 },
      passed: {
        before: passed(stage.before),
        after: passed(stage.after),
        borrowed: borrowedShapes(stage),
      },
    });
  }

  joinArena(memory: ParameterArena): Promise<void> {
    return this.#ofProcess.joinArena(memory);
  }

  moved(): void {
    this.#ofProcess.moved();
  }

  borrow(values: readonly Float32Array[]): void {
    const { borrowed } = this.#desk.passed;
    for (const [i, each] of values.entries()) borrowed[i]!.values.set(each);
    this.#ofProcess.moved();
  }

  begin(gradient: Float32Array): void {
    this.#gradient = gradient;
    this.#weights.tables.clear(gradient);
  }

  async forward(i: number, before: Float32Array | undefined): Promise<Float32Array> {
    this.#renewRows(i);
    await this.#compute({ type: 'forward', microBatch: i }, before);
    return this.#desk.passed.after!;
  }

  async backward(i: number, after: Float32Array): Promise<Float32Array | undefined> {
    this.#desk.passed.after!.set(after);
    await this.#compute({ type: 'backward', microBatch: i });
    this.#addRows(i);
    return this.#desk.passed.before;
  }

  async losses(i: number, before: Float32Array | undefined): Promise<StageLosses> {
    this.#renewRows(i);
    await this.#compute({ type: 'losses', microBatch: i }, before);
    this.#addRows(i);
    const { measures } = this.#desk.slots.train;
    const own = measures.map((values) => this.#partOf(values, i));
    return { measures: measuresOf(own), back: this.#desk.passed.before };
  }

  async finish(): Promise<readonly Float32Array[]> {
    await this.#compute({ type: 'finish' });
    const vectors = await this.#ofProcess.share();
    if (!vectors.isGradient(this.#gradient)) {
      for (const { length, start } of this.#weights.whole) {
        const values = vectors.gradient.subarray(start, start + length);
        this.#gradient.set(values, start);
      }
    }
    return this.#desk.passed.borrowed.map((each) => each.gradient);
  }

  async pass(before: Float32Array | undefined): Promise<Float32Array> {
    await this.score(before);
    return this.#desk.passed.after!;
  }

  async score(before: Float32Array | undefined): Promise<readonly Measure[]> {
    const { test } = this.#desk.slots;
    this.#ofProcess.renewRows(test.rows, this.test.values);
    await this.#compute({ type: 'evaluate' }, before);
    return measuresOf(test.measures);
  }

  close(): void {
    this.#parts.process.close();
  }

  async #compute(request: StageRequest, before?: Float32Array): Promise<void> {
    if (before !== undefined) this.#desk.passed.before!.set(before);
    const isFresh = await this.#ofProcess.renew();
    await this.#parts.process.compute({ ...request, isFresh });
  }

  #renewRows(i: number): void {
    const { rows } = this.#desk.slots.train;
    const own = rows.map((values) => this.#partOf(values, i));
    this.#ofProcess.renewRows(own, this.microBatches[i]!.values);
  }

  /** Adds the gradients of a micro-batch's rows of tables to the gradient. */
  #addRows(i: number): void {
    const { rowGradients } = this.#desk.slots.train;
    const own = rowGradients.map((values) => this.#partOf(values, i));
    const { values } = this.microBatches[i]!;
    this.#weights.tables.scatterAdd(own, values, this.#gradient);
  }

  /** A micro-batch's part of an array with a row for each sample of the batch. */
  #partOf(values: Float32Array, i: number): Float32Array {
    const each = values.length / this.#parts.microBatches;
    return values.subarray(i * each, (i + 1) * each);
  }
}

const fieldsOf = ({ shard, stage }: TorchStageParts): BatchFields =>
  settledFields(stage.fields, shard.lengths);
