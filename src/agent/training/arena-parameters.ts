/**
 * Weights and the optimiser's state in the arena, beside the averaged gradient: one pass of a CPU
 * kernel updates them. If jax-js computes in the arena's memory, its arrays of weights are those
 * that the kernel updates in place; otherwise the updated weights are copied for its functions.
 *
 * For n elements a step of SGD with momentum reads 12·n bytes and writes 8·n; a copy would read
 * and write 4·n each. If jax-js takes the step, the gradient is copied instead, and results
 * are written to different memory than they are read from.
 *
 * Weights may change in place as no result of jax-js is pending when a step is taken: gradients
 * and losses have been read by then.
 */
import { averageLimit } from '../../shared/spec/optimizer-spec.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Vector } from '../memory/arena.ts';
import type { Optimizer, OptimizerSettings } from './optimizers/optimizer.ts';
import type { AveragedGradient, ParameterMemory } from './parameter-memory.ts';
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';
import type { ParameterTensor } from './trainer.ts';

export interface ParameterArena {
  readonly arena: Arena;
  readonly kernels: Pick<
    Kernels,
    'blend' | 'copyFinite' | 'fill' | 'optimization' | 'squaredNorm'
  >;
  /** The flat gradient that is applied. */
  readonly gradient: Vector;
  /** Whether vectors have pages of their own, whose place other memory may take. */
  readonly ownPages?: boolean | undefined;
  /** Allocates permanent arena memory. */
  allocate(length: number): Promise<Vector>;
}

export interface ArenaParametersOptions {
  readonly jax: Jax;
  readonly optimizer: Optimizer;
  readonly settings: OptimizerSettings;
  /** Parameter tensors, with their offsets in the flat gradient. */
  readonly tensors: readonly ParameterTensor[];
  readonly memory: ParameterArena;
  /** Whether functions of jax-js take the weights (`used`). */
  readonly feeds: boolean;
}

/** An array in our bundles (scripts/jax-memory.ts). */
interface Movable {
  movedTo?(memory: WebAssembly.Memory, offset: number): JaxArray | undefined;
}

/** A tensor in the arena. */
interface Place {
  readonly shape: number[];
  readonly gradient: Vector;
  readonly weights: Vector;
  readonly state: readonly Vector[];
  readonly values: Float32Array<ArrayBuffer>;
}

export class ArenaParameters implements ParameterMemory {
  readonly #parts: ArenaParametersOptions;
  readonly #places: readonly Place[];
  /** All tensors, one behind the other. */
  readonly weights: Vector;
  #onDevice: JaxArray[];
  /** Whether the arrays of jax-js are the arena's weights. */
  readonly areInPlace: boolean;
  #plain: readonly boolean[];

  /** Takes over from the current storage of the parameters, which is closed. */
  static async takeOver(
    from: ParameterMemory,
    parts: ArenaParametersOptions,
  ): Promise<ArenaParameters> {
    const { memory, optimizer, settings, tensors } = parts;
    const vectors = optimizer.stateVectors(settings);
    const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const [weights, ...state] = await Promise.all(
      Array.from({ length: 1 + vectors }, () => memory.allocate(length)),
    );
    let start = 0;
    const places = tensors.map((tensor): Place => {
      const within = ({ offset }: Vector, first: number): Vector => {
        return { offset: offset + 4 * first, length: tensor.length };
      };
      const own = within(weights!, start);
      const place = {
        shape: [...tensor.shape],
        gradient: within(memory.gradient, tensor.start),
        weights: own,
        state: state.map((vector) => within(vector, start)),
        // jax-js only copies the bytes out, which shared memory allows as well.
        values: memory.arena.f32(own) as Float32Array as Float32Array<ArrayBuffer>,
      };
      start += tensor.length;
      return place;
    });
    for (const [i, place] of places.entries()) {
      await from.read(i, place.values);
      for (const [vector, of] of place.state.entries()) {
        await from.read(i, memory.arena.f32(of), vector);
      }
    }
    from.close();
    return new ArenaParameters(parts, places, weights!);
  }

  private constructor(
    parts: ArenaParametersOptions,
    places: readonly Place[],
    weights: Vector,
  ) {
    this.#parts = parts;
    this.#places = places;
    this.weights = weights;
    this.#plain = places.map(() => false);
    const arrays = parts.feeds ? places.map((place) => this.#upload(place)) : [];
    const { memory } = parts.memory.arena;
    const moved = arrays.map((array, i) =>
      (array as Movable).movedTo?.(memory, places[i]!.weights.offset),
    );
    this.areInPlace = moved.every((array) => array !== undefined);
    this.#onDevice = arrays.map((array, i) => moved[i] ?? array);
  }

  used(): JaxArray[] {
    return this.#parts.jax.tree.ref(this.#onDevice);
  }

  step(gradient: AveragedGradient, rates: readonly number[]): Promise<void> {
    const { memory, optimizer, settings } = this.#parts;
    if (!(gradient instanceof Float32Array)) {
      throw new Error('internal: a gradient on a device, for parameters in the arena');
    }
    if (gradient.byteOffset !== memory.gradient.offset) {
      throw new Error('internal: a gradient that is not where the arena has it');
    }
    const [rate, ...factors] = rates as [number, ...number[]];
    const factor = this.#clippingFactor();
    const decayMoves = optimizer.decayHasVelocity?.(settings) === true;
    for (const [i, place] of this.#places.entries()) {
      const isPlain = this.#plain[i] === true;
      const ofDecay = isPlain && decayMoves;
      const state = isPlain && !decayMoves ? [] : place.state;
      const step = { ...place, state, factor, rate, factors, ofDecay };
      optimizer.stepInArena!(memory.kernels, settings, step);
      this.#renew(i);
    }
    return Promise.resolve();
  }

  takePlainSteps(plain: readonly boolean[], changed: readonly boolean[]): void {
    this.#plain = plain;
    for (const [i, { state }] of this.#places.entries()) {
      if (changed[i] !== true) continue;
      for (const vector of state) this.#parts.memory.kernels.fill(vector, 0);
    }
  }

  read(tensor: number, out: Float32Array, vector?: number): Promise<void> {
    out.set(this.#held(tensor, vector));
    return Promise.resolve();
  }

  write(tensor: number, values: Float32Array, vector?: number): void {
    this.#held(tensor, vector).set(values);
    if (vector === undefined) this.#renew(tensor);
  }

  close(): void {
    this.#parts.jax.tree.dispose(this.#onDevice);
    this.#onDevice = [];
  }

  #held(tensor: number, vector?: number): Float32Array {
    const { state, values } = this.#places[tensor]!;
    return vector === undefined ? values : this.#parts.memory.arena.f32(state[vector]!);
  }

  /** Copies the arena's weights to the device, reusing its memory, if they are not the same. */
  #renew(tensor: number): void {
    if (this.areInPlace) return;
    this.#onDevice[tensor]!.dispose();
    this.#onDevice[tensor] = this.#upload(this.#places[tensor]!);
  }

  #upload({ shape, values }: Place): JaxArray {
    return this.#parts.jax.numpy.array(values, { shape });
  }

  /** Computes the factor of clipping, as `clip-gradients.ts`, with the norm in f64. */
  #clippingFactor(): number {
    const { memory, settings } = this.#parts;
    const limit = averageLimit(settings);
    if (limit === undefined) return 1;
    const squares = this.#places.map(({ gradient }) =>
      memory.kernels.squaredNorm(gradient),
    );
    const norm = Math.sqrt(squares.reduce((sum, square) => sum + square, 0));
    return norm > limit ? limit / norm : 1;
  }
}
