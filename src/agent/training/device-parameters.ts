/**
 * Weights and the optimiser's state on the device of jax-js, where they stay between iterations.
 * jax-js counts references: an array passed to a function is consumed, `.ref` keeps it.
 */
import { compileUpdate, type CompiledUpdate } from './compiled-functions.ts';
import type { Optimizer, OptimizerSettings } from './optimizers/optimizer.ts';
import {
  sliceOf,
  type AveragedGradient,
  type ParameterMemory,
} from './parameter-memory.ts';
import { copyOut } from './runtime/copy-out.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import type { ParameterTensor } from './trainer.ts';

export interface DeviceParametersOptions {
  readonly runtime: Pick<JaxRuntime, 'jax' | 'backend'>;
  readonly optimizer: Optimizer;
  readonly settings: OptimizerSettings;
  /** Parameter tensors, with their offsets in a flat vector. */
  readonly tensors: readonly ParameterTensor[];
  /** Initial weights, flat. */
  readonly first: Float32Array;
}

export class DeviceParameters implements ParameterMemory {
  readonly #parts: DeviceParametersOptions;
  readonly #jax: Jax;
  #weights: JaxArray[];
  /** State by vector of the optimiser, then by tensor. */
  #state: JaxArray[][];
  #plain: readonly boolean[];
  #update: CompiledUpdate;
  readonly #updates = new Map<string, CompiledUpdate>();

  constructor(parts: DeviceParametersOptions) {
    const { first, optimizer, runtime, settings, tensors } = parts;
    this.#parts = parts;
    this.#jax = runtime.jax;
    this.#plain = tensors.map(() => false);
    this.#update = this.#updateFor(this.#plain);
    this.#weights = this.#upload(first);
    this.#state = Array.from({ length: optimizer.stateVectors(settings) }, () =>
      tensors.map((tensor) => this.#zeros(tensor)),
    );
  }

  used(): JaxArray[] {
    return this.#jax.tree.ref(this.#weights);
  }

  async step(gradient: AveragedGradient, rates: readonly number[]): Promise<void> {
    const { optimizer, settings } = this.#parts;
    const decayMoves = optimizer.decayHasVelocity?.(settings) === true;
    const keepsState = this.#plain.map((plain) => !plain || decayMoves);
    const state = this.#state.map((vector) => vector.filter((_, i) => keepsState[i]));
    // A 0 keeps jax-js from compiling a single rate as a constant.
    const given = this.#jax.numpy.array(Float32Array.from([...rates, 0]));
    const [weights, next] = this.#update(
      this.#weights,
      state,
      gradient instanceof Float32Array ? this.#upload(gradient) : [...gradient],
      given,
    );
    this.#weights = weights;
    this.#state = this.#state.map((vector, which) => {
      const moved = next[which]!.values();
      return vector.map((old, i) =>
        keepsState[i] === true ? moved.next().value! : old,
      );
    });
    // jax-js is lazy: without a request, updates would pile up and run in the next
    // step.
    if (this.#parts.runtime.backend === 'webgpu' && weights[1] !== undefined) {
      await this.#jax.blockUntilReady([weights[1]]);
    }
    await this.#jax.blockUntilReady([this.#weights, this.#state]);
  }

  takePlainSteps(plain: readonly boolean[], changed: readonly boolean[]): void {
    this.#plain = plain;
    this.#update = this.#updateFor(plain);
    this.#state = this.#state.map((vector) =>
      vector.map((old, i) => {
        if (changed[i] !== true) return old;
        old.dispose();
        return this.#zeros(this.#parts.tensors[i]!);
      }),
    );
  }

  read(tensor: number, out: Float32Array, vector?: number): Promise<void> {
    return copyOut(this.#held(vector)[tensor]!.ref, out);
  }

  write(tensor: number, values: Float32Array, vector?: number): void {
    const arrays = this.#held(vector);
    arrays[tensor]!.dispose();
    arrays[tensor] = this.#array(values, this.#parts.tensors[tensor]!);
  }

  close(): void {
    this.#jax.tree.dispose([this.#weights, this.#state]);
    this.#weights = [];
    this.#state = [];
  }

  #held(vector?: number): JaxArray[] {
    return vector === undefined ? this.#weights : this.#state[vector]!;
  }

  #upload(flat: Float32Array): JaxArray[] {
    return this.#parts.tensors.map((tensor) =>
      this.#array(sliceOf(flat, tensor), tensor),
    );
  }

  #array(values: Float32Array, { shape }: ParameterTensor): JaxArray {
    // jax-js only copies the bytes out, which shared memory allows as well.
    const bytes = values as Float32Array<ArrayBuffer>;
    return this.#jax.numpy.array(bytes, { shape: [...shape] });
  }

  #zeros(tensor: ParameterTensor): JaxArray {
    return this.#array(new Float32Array(tensor.length), tensor);
  }

  /** Compiled once for each set of tensors. */
  #updateFor(plain: readonly boolean[]): CompiledUpdate {
    const { optimizer, settings } = this.#parts;
    const key = plain.map(Number).join('');
    const update =
      this.#updates.get(key) ?? compileUpdate(this.#jax, optimizer, settings, plain);
    this.#updates.set(key, update);
    return update;
  }
}
