/**
 * The parameters of a replica, or of its part in a pipeline: weights and the optimiser's state
 * stay in place between iterations, gradients are copied out of jax-js, and their average moves
 * the weights. Tables are on the host; the functions get only the rows that a batch uses.
 */
import { ArenaParameters, type ParameterArena } from './arena-parameters.ts';
import type { Vector } from '../memory/arena.ts';
import type { BatchLoader } from './batch-loader.ts';
import { DeviceParameters } from './device-parameters.ts';
import { LookupTables } from './lookup-tables.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import { tensorLength, type ModelTensor } from './models/model.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import {
  sliceOf,
  type AveragedGradient,
  type ParameterMemory,
} from './parameter-memory.ts';
import { copyOut } from './runtime/copy-out.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import type { ParameterTensor, TrainerOptions } from './trainer.ts';

export interface ModelParametersOptions {
  readonly runtime: JaxRuntime;
  readonly tensors: readonly ModelTensor[];
  /** Initial values of the tensors, flat. */
  readonly first: Float32Array;
  readonly optimizer: Optimizer;
  /** Whether functions of jax-js take the weights (`used`). */
  readonly feeds: boolean;
  readonly options: Pick<TrainerOptions, 'iterations' | 'optimizer' | 'world'>;
}

export class ModelParameters {
  readonly tensors: readonly ParameterTensor[];
  /** The tensors that are not tables. */
  readonly whole: readonly ParameterTensor[];
  readonly length: number;
  readonly stateLength: number;
  readonly tables: LookupTables;

  readonly #parts: ModelParametersOptions;
  readonly #jax: Jax;
  #memory: ParameterMemory;
  /** The arena, if arrays of jax-js are in its memory. */
  #sameMemory: ParameterArena | undefined;
  /** State vectors of the optimiser. */
  readonly #vectors: number;
  /** Whether a tensor takes plain steps, by its index. */
  #plain: readonly boolean[];

  constructor(parts: ModelParametersOptions) {
    const { first, optimizer, options, runtime, tensors } = parts;
    this.#parts = parts;
    this.#jax = runtime.jax;
    this.tensors = layOut(tensors);
    this.length = this.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    this.#vectors = optimizer.stateVectors(options.optimizer);
    this.stateLength = this.#vectors * this.length;
    this.whole = this.tensors.filter((_, i) => tensors[i]!.rowsOf === undefined);
    this.tables = new LookupTables({ tensors }, this.tensors, this.#vectors);
    this.#plain = this.tensors.map(() => false);
    this.tables.write(first);
    this.#memory = new DeviceParameters({
      runtime,
      optimizer,
      tensors: this.whole,
      first,
      settings: options.optimizer,
    });
  }

  /**
   * Moves whole tensors to the arena, beside the gradients that move them, if the CPU computes
   * and its kernels support the optimiser; otherwise changes nothing.
   */
  async joinArena(memory: ParameterArena): Promise<void> {
    const { feeds, optimizer, options, runtime } = this.#parts;
    if (runtime.backend !== 'wasm' || optimizer.stepInArena === undefined) return;
    const inArena = await ArenaParameters.takeOver(this.#memory, {
      jax: this.#jax,
      feeds,
      optimizer,
      memory,
      tensors: this.whole,
      settings: options.optimizer,
    });
    inArena.takePlainSteps(this.#ofWhole(this.#plain), []);
    this.#memory = inArena;
    if (inArena.areInPlace) this.#sameMemory = memory;
  }

  /** The whole tensors in the arena, one behind the other; undefined if they are not there. */
  get inArena(): Vector | undefined {
    return this.#memory instanceof ArenaParameters ? this.#memory.weights : undefined;
  }

  /** Copies the weights of the whole tensors out, one behind the other. */
  async readWholes(out: Float32Array): Promise<void> {
    let start = 0;
    for (const [i, { length }] of this.whole.entries()) {
      await this.#read(i, out.subarray(start, start + length));
      start += length;
    }
  }

  /** The weights that a loaded batch uses, to be consumed. */
  used(loader: BatchLoader): UsedWeights {
    const tables = this.#parts.tensors.filter(({ rowsOf }) => rowsOf !== undefined);
    const rows = this.tables.gather(loader.values).map((values, which) => {
      const { rowsOf, shape } = tables[which]!;
      const ofBatch = [loader.rows.length, ...loader.fields[rowsOf!]!.shape];
      return this.#jax.numpy.array(values, { shape: [...ofBatch, ...shape.slice(1)] });
    });
    // In this order, which results have as well: rows of tables come last in a backward pass.
    return { rows, whole: this.#memory.used() };
  }

  /**
   * Copies gradients, consuming their arrays, to their whole tensors' places in a flat vector.
   * Resolves to whether they are known to be finite.
   * @param first the first array's tensor among the whole ones
   */
  async download(
    arrays: readonly JaxArray[],
    flat: Float32Array,
    first = 0,
  ): Promise<boolean> {
    const out = (i: number): Float32Array => sliceOf(flat, this.whole[first + i]!);
    const memory = this.#sameMemory;
    if (memory === undefined || !isWithin(flat, memory.gradient)) {
      await Promise.all(arrays.map((array, i) => copyOut(array, out(i))));
      return false;
    }
    const finite = await Promise.all(
      arrays.map(async (array, i) => {
        let isFinite = false;
        // JavaScript copies shared memory a word at a time, three times as slowly.
        await copyOut(array, out(i), (to, values) => {
          const found = memory.kernels.copyFinite(vectorOf(to), vectorOf(values));
          isFinite = found < 0;
        });
        return isFinite;
      }),
    );
    return !finite.includes(false);
  }

  /**
   * One step of the optimiser, done when this resolves.
   * @param averaged the gradient of all tensors; on the device if there are no tables,
   * and consumed there
   */
  async step(averaged: AveragedGradient, iteration: number): Promise<void> {
    if (averaged instanceof Float32Array) {
      this.checkLength(averaged, this.length);
      this.#stepTables(averaged, iteration);
    }
    const rates = this.#ratesOf(iteration);
    await this.#parts.runtime.watch(() => this.#memory.step(averaged, rates));
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    // Called twice in every iteration, usually without effect.
    if (tensors.size === 0 && !this.#plain.includes(true)) return;
    const plain = this.tensors.map(({ name }) => tensors.has(name));
    const changed = plain.map((now, i) => now !== this.#plain[i]);
    if (!changed.includes(true)) return;
    this.#plain = plain;
    for (const i of changed.keys()) if (changed[i]) this.tables.clearState(i);
    this.#memory.takePlainSteps(this.#ofWhole(plain), this.#ofWhole(changed));
  }

  learningRate(iteration: number): number {
    const { optimizer, iterations, world: ranks } = this.#parts.options;
    return scheduledRate(optimizer, iteration, { iterations, ranks });
  }

  /** The weights of one tensor that is not a table. */
  async readWhole(name: string): Promise<Float32Array> {
    const place = this.whole.findIndex((tensor) => tensor.name === name);
    const values = new Float32Array(this.whole[place]!.length);
    await this.#read(place, values);
    return values;
  }

  async readWeights(out: Float32Array): Promise<void> {
    this.checkLength(out, this.length);
    this.tables.read(out);
    await this.#readWhole(out);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    this.checkLength(weights, this.length);
    this.tables.write(weights);
    this.#writeWhole(weights);
    return Promise.resolve();
  }

  async readState(out: Float32Array): Promise<void> {
    this.checkLength(out, this.stateLength);
    for (let vector = 0; vector < this.#vectors; vector++) {
      const flat = this.#vectorOf(out, vector);
      this.tables.read(flat, vector);
      await this.#readWhole(flat, vector);
    }
  }

  writeState(state: Float32Array): Promise<void> {
    this.checkLength(state, this.stateLength);
    for (let vector = 0; vector < this.#vectors; vector++) {
      const flat = this.#vectorOf(state, vector);
      this.tables.write(flat, vector);
      this.#writeWhole(flat, vector);
    }
    return Promise.resolve();
  }

  close(): void {
    this.#memory.close();
  }

  /**
   * Waits for all results of the steps at once. On a GPU each result that is requested before the
   * steps have run waits for every step separately: with many tensors that makes 10⁵ promises.
   * @param last the result that needs the most steps (scripts/jax-programs.ts)
   */
  async oneForAll(last: JaxArray | undefined): Promise<void> {
    if (this.#parts.runtime.backend !== 'webgpu' || last === undefined) return;
    await this.#jax.blockUntilReady([last]);
  }

  checkLength(vector: Float32Array, length: number): void {
    if (vector.length !== length) {
      throw new Error(`internal: a vector of ${vector.length}, expected ${length}`);
    }
  }

  async #readWhole(flat: Float32Array, vector?: number): Promise<void> {
    await Promise.all(
      this.whole.map((tensor, i) => this.#read(i, sliceOf(flat, tensor), vector)),
    );
  }

  #read(whole: number, out: Float32Array, vector?: number): Promise<void> {
    const { runtime } = this.#parts;
    return runtime.watch(() => this.#memory.read(whole, out, vector));
  }

  #writeWhole(flat: Float32Array, vector?: number): void {
    for (const [i, tensor] of this.whole.entries()) {
      this.#memory.write(i, sliceOf(flat, tensor), vector);
    }
  }

  #ratesOf(iteration: number): readonly number[] {
    const { optimizer, options } = this.#parts;
    const rate = this.learningRate(iteration);
    return [rate, ...(optimizer.factors?.(options.optimizer, iteration + 1) ?? [])];
  }

  /** A state vector among all of them, flat. */
  #vectorOf(state: Float32Array, index: number): Float32Array {
    return state.subarray(index * this.length, (index + 1) * this.length);
  }

  /** Selects the values for whole tensors from values for all tensors. */
  #ofWhole(known: readonly boolean[]): readonly boolean[] {
    const whole = new Set(this.whole);
    return known.filter((_, i) => whole.has(this.tensors[i]!));
  }

  #stepTables(gradient: Float32Array, iteration: number): void {
    const { optimizer, options } = this.#parts;
    const settings = options.optimizer;
    const rule = optimizer.tableRule?.(settings, this.learningRate(iteration));
    if (rule === undefined) return;
    const decayMoves = optimizer.decayHasVelocity?.(settings) === true;
    this.tables.step(gradient, rule, this.#plain, decayMoves);
  }
}

/** Whether a vector is part of one in the arena. */
function isWithin(
  { buffer, byteLength, byteOffset }: Float32Array,
  { length, offset }: Vector,
): boolean {
  const within = byteOffset - offset;
  return (
    buffer instanceof SharedArrayBuffer &&
    within >= 0 &&
    within + byteLength <= 4 * length
  );
}

const vectorOf = ({ byteOffset, length }: Float32Array): Vector => {
  return { offset: byteOffset, length };
};

/** Places each tensor in the flat gradient, one behind the other. */
function layOut(tensors: readonly ModelTensor[]): ParameterTensor[] {
  let start = 0;
  return tensors.map(({ name, shape }) => {
    const tensor = { name, shape, start, length: tensorLength({ shape }) };
    start += tensor.length;
    return tensor;
  });
}
