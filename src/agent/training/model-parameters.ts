/**
 * The parameters of a replica, or of its part in a pipeline, on the device: weights and the
 * optimiser's state stay there between iterations, and an averaged gradient moves them. Tables
 * lie on the host: of them the functions get the rows that a batch uses.
 *
 * jax-js counts references: an array passed to a function is used up, `.ref` keeps it.
 */
import type { BatchLoader } from './batch-loader.ts';
import { compileUpdate, type CompiledUpdate } from './compiled-functions.ts';
import { LookupTables } from './lookup-tables.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import { tensorLength, type ModelTensor } from './models/model.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import type { ParameterTensor, TrainerOptions } from './trainer.ts';

export interface ModelParametersParts {
  readonly runtime: JaxRuntime;
  readonly tensors: readonly ModelTensor[];
  /** First values, flat. */
  readonly first: Float32Array;
  readonly optimizer: Optimizer;
  readonly options: Pick<TrainerOptions, 'iterations' | 'optimizer' | 'world'>;
}

export class ModelParameters {
  readonly tensors: readonly ParameterTensor[];
  /** The tensors that are no tables. */
  readonly whole: readonly ParameterTensor[];
  readonly length: number;
  readonly stateLength: number;
  readonly tables: LookupTables;

  readonly #parts: ModelParametersParts;
  readonly #jax: Jax;
  /** Whole tensors on the device; `#state` once per state vector of the optimiser. */
  #weights: JaxArray[];
  #state: JaxArray[][];
  /** Whether a tensor takes plain steps, by its place. */
  #plain: readonly boolean[];
  #update: CompiledUpdate;
  readonly #updates = new Map<string, CompiledUpdate>();
  /**
   * The learning rate, the optimiser's factors, and a 0 that keeps jax-js from compiling a
   * single one in as a constant.
   */
  readonly #rates: Float32Array<ArrayBuffer>;

  constructor(parts: ModelParametersParts) {
    const { first, optimizer, options, runtime, tensors } = parts;
    this.#parts = parts;
    this.#jax = runtime.jax;
    this.tensors = layOut(tensors);
    this.length = this.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const vectors = optimizer.stateVectors(options.optimizer);
    this.stateLength = vectors * this.length;
    this.whole = this.tensors.filter((_, i) => tensors[i]!.rowsOf === undefined);
    this.tables = new LookupTables({ tensors }, this.tensors, vectors);
    this.#rates = new Float32Array(this.#ratesOf(0).length + 1);
    this.#plain = this.tensors.map(() => false);
    this.#update = this.#updateFor(this.#plainOfWhole());
    this.tables.write(first);
    this.#weights = this.upload(first);
    const zeros = new Float32Array(this.length);
    this.#state = Array.from({ length: vectors }, () => this.upload(zeros));
  }

  /** The weights that a loaded batch uses, to be used up. */
  used(loader: BatchLoader): UsedWeights {
    const tables = this.#parts.tensors.filter(({ rowsOf }) => rowsOf !== undefined);
    const rows = this.tables.gather(loader.values).map((values, which) => {
      const { rowsOf, shape } = tables[which]!;
      const ofBatch = [loader.rows.length, ...loader.fields[rowsOf!]!.shape];
      return this.#jax.numpy.array(values, { shape: [...ofBatch, ...shape.slice(1)] });
    });
    // In this order, which results have as well: rows of tables come last in a backward pass.
    return { rows, whole: this.#jax.tree.ref(this.#weights) };
  }

  /**
   * One step of the optimiser, done when this resolves.
   * @param averaged of the whole tensors, used up
   * @param flat the same gradient on the host, with that of the tables in it; undefined where
   * there are none
   */
  async step(
    averaged: JaxArray[],
    flat: Float32Array | undefined,
    iteration: number,
  ): Promise<void> {
    this.#rates.set(this.#ratesOf(iteration));
    if (flat !== undefined) this.#stepTables(flat, iteration);
    const plain = this.#plainOfWhole();
    const state = this.#state.map((vector) => vector.filter((_, i) => !plain[i]));
    const [weights, next] = this.#update(
      this.#weights,
      state,
      averaged,
      this.#jax.numpy.array(this.#rates),
    );
    this.#weights = weights;
    this.#state = this.#state.map((vector, which) => {
      const moved = next[which]!.values();
      return vector.map((old, i) => (plain[i] === true ? old : moved.next().value!));
    });
    // jax-js is lazy: unasked for, updates would pile up and run in the next step.
    await this.oneForAll(this.#weights[1]);
    await this.#jax.blockUntilReady([this.#weights, this.#state]);
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    const plain = this.tensors.map(({ name }) => tensors.has(name));
    const changed = plain.map((now, i) => now !== this.#plain[i]);
    if (!changed.includes(true)) return;
    this.#plain = plain;
    this.#update = this.#updateFor(this.#plainOfWhole());
    for (const i of changed.keys()) if (changed[i]) this.tables.clearState(i);
    const begun = new Set(this.tensors.filter((_, i) => changed[i]));
    this.#state = this.#state.map((vector) =>
      vector.map((velocity, i) => {
        const tensor = this.whole[i]!;
        if (!begun.has(tensor)) return velocity;
        velocity.dispose();
        const { length, shape } = tensor;
        return this.#jax.numpy.array(new Float32Array(length), { shape: [...shape] });
      }),
    );
  }

  learningRate(iteration: number): number {
    const { optimizer, iterations, world: ranks } = this.#parts.options;
    return scheduledRate(optimizer, iteration, { iterations, ranks });
  }

  /** The weights of one tensor that is no table. */
  async readWhole(name: string): Promise<Float32Array> {
    const place = this.whole.findIndex((tensor) => tensor.name === name);
    return (await this.#weights[place]!.ref.data()) as Float32Array;
  }

  async readWeights(out: Float32Array): Promise<void> {
    this.checkLength(out, this.length);
    this.tables.read(out);
    await this.download(this.#jax.tree.ref(this.#weights), out);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    this.checkLength(weights, this.length);
    this.tables.write(weights);
    this.#jax.tree.dispose(this.#weights);
    this.#weights = this.upload(weights);
    return Promise.resolve();
  }

  async readState(out: Float32Array): Promise<void> {
    this.checkLength(out, this.stateLength);
    for (const [index, vector] of this.#state.entries()) {
      const flat = this.#vectorOf(out, index);
      this.tables.read(flat, index);
      await this.download(this.#jax.tree.ref(vector), flat);
    }
  }

  writeState(state: Float32Array): Promise<void> {
    this.checkLength(state, this.stateLength);
    this.#jax.tree.dispose(this.#state);
    this.#state = this.#state.map((_, index) => {
      const flat = this.#vectorOf(state, index);
      this.tables.write(flat, index);
      return this.upload(flat);
    });
    return Promise.resolve();
  }

  close(): void {
    this.#jax.tree.dispose([this.#weights, this.#state]);
    this.#weights = [];
    this.#state = [];
  }

  /**
   * Of a function on a GPU each result that is asked for before the steps have run waits for
   * every step by itself: with many tensors that are 10⁵ promises. So one asks for all.
   * @param last the result that needs the most steps (scripts/jax-programs.ts)
   */
  async oneForAll(last: JaxArray | undefined): Promise<void> {
    if (this.#parts.runtime.backend !== 'webgpu' || last === undefined) return;
    await this.#jax.blockUntilReady([last]);
  }

  /** Compiled once for each set of tensors. */
  #updateFor(plain: readonly boolean[]): CompiledUpdate {
    const key = plain.map(Number).join('');
    const update =
      this.#updates.get(key) ??
      compileUpdate(
        this.#jax,
        this.#parts.optimizer,
        this.#parts.options.optimizer,
        plain,
      );
    this.#updates.set(key, update);
    return update;
  }

  #ratesOf(iteration: number): readonly number[] {
    const { factors } = this.#parts.optimizer;
    const rate = this.learningRate(iteration);
    return [rate, ...(factors?.(this.#parts.options.optimizer, iteration + 1) ?? [])];
  }

  /** A state vector among all of them, flat. */
  #vectorOf(state: Float32Array, index: number): Float32Array {
    return state.subarray(index * this.length, (index + 1) * this.length);
  }

  #plainOfWhole(): readonly boolean[] {
    const whole = new Set(this.whole);
    return this.#plain.filter((_, i) => whole.has(this.tensors[i]!));
  }

  #stepTables(gradient: Float32Array, iteration: number): void {
    const { tableRule } = this.#parts.optimizer;
    const { optimizer } = this.#parts.options;
    const rule = tableRule?.(optimizer, this.learningRate(iteration));
    if (rule !== undefined) this.tables.step(gradient, rule, this.#plain);
  }

  /** A flat vector as the whole tensors on the device. */
  upload(flat: Float32Array): JaxArray[] {
    this.checkLength(flat, this.length);
    return this.whole.map(({ start, length, shape }) =>
      this.#jax.numpy.array(
        // jax-js only copies the bytes out, which shared memory allows as well.
        flat.subarray(start, start + length) as Float32Array<ArrayBuffer>,
        { shape: [...shape] },
      ),
    );
  }

  /** Whole tensors of the device, used up, into a flat vector. */
  async download(arrays: readonly JaxArray[], out: Float32Array): Promise<void> {
    const values = await Promise.all(arrays.map((array) => array.data()));
    for (const [index, { start }] of this.whole.entries()) {
      out.set(values[index]!, start);
    }
  }

  checkLength(vector: Float32Array, length: number): void {
    if (vector.length !== length) {
      throw new Error(`internal: a vector of ${vector.length}, expected ${length}`);
    }
  }
}

/** Where each tensor lies in the flat gradient. */
function layOut(tensors: readonly ModelTensor[]): ParameterTensor[] {
  let start = 0;
  return tensors.map(({ name, shape }) => {
    const tensor = { name, shape, start, length: tensorLength({ shape }) };
    start += tensor.length;
    return tensor;
  });
}
