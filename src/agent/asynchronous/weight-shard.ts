/**
 * A server's part of the weights, moved by every push as it arrives: SGD with momentum, each
 * push with 1/P of its gradient.
 *
 *   v_w ← μ·v_w + g_w/P,  x ← x − η·v_w   (Nesterov: x − η·(g_w/P + μ·v_w))
 *
 * Each worker w has its own velocity, which decays with that worker's iterations. The step is
 * linear in the gradients: once all workers have pushed an iteration, the sum of their
 * velocities is the velocity of synchronous SGD, and the weights have moved as far. One shared
 * velocity would decay P times per iteration. Weight decay is a push by the server itself, λ·x
 * with its own velocity, before the first push of each iteration.
 *
 * The weights are f64, and steps are rounded to multiples of 2⁻⁴⁶: sums of them are exact while
 * weights stay below 64, so that the order of pushes does not matter. P steps instead of one lose
 * nothing that f32 could hold, except for weights below 2⁻²².
 *
 * Cost: 8·n bytes for the weights; with momentum 4·n·P, and 4·n for that of weight decay; a push
 * reads and writes its worker's velocity and the weights, or without momentum only its own
 * entries.
 */
import type { BucketShare, SharePiece } from './bucket-share.ts';

export interface ShardSettings {
  /** P, the number of workers. */
  readonly workers: number;
  /** Momentum μ. */
  readonly momentum: number;
  readonly nesterov: boolean;
  /** Weight decay λ. */
  readonly weightDecay: number;
}

/** Adding and subtracting it rounds to a multiple of 2⁻⁴⁶: 2⁻⁵² of its power of two, 2⁶. */
const GRID = 1.5 * 2 ** 6;

export class WeightShard {
  readonly weights: Float64Array;
  /**
   * Velocities of each worker, then that of weight decay; each of the weights' length.
   */
  readonly velocities: readonly Float32Array[];
  readonly #settings: ShardSettings;

  constructor(weights: Float32Array, settings: ShardSettings) {
    const { momentum, weightDecay, workers } = settings;
    this.weights = Float64Array.from(weights);
    this.#settings = settings;
    const count = momentum === 0 ? 0 : workers + (weightDecay === 0 ? 0 : 1);
    this.velocities = Array.from(
      { length: count },
      () => new Float32Array(weights.length),
    );
  }

  /**
   * A worker's gradient of a bucket's share.
   * @param lr η of the gradient's iteration
   */
  push(
    worker: number,
    pieces: readonly SharePiece[],
    gradient: Float32Array,
    lr: number,
  ): void {
    const scale = 1 / this.#settings.workers;
    const velocity = this.velocities[worker];
    for (const { at, length, start } of pieces) {
      this.#move(velocity, { at, length }, { values: gradient, start, scale }, lr);
    }
  }

  /**
   * Pushes as `push` does a gradient that is 0 elsewhere. Without momentum it costs only its
   * entries.
   */
  pushEntries(
    worker: number,
    { length, pieces, start: first }: BucketShare,
    { indices, values }: Entries,
    lr: number,
  ): void {
    if (this.velocities.length > 0) {
      const gradient = new Float32Array(length);
      for (const [k, index] of indices.entries()) gradient[index - first] = values[k]!;
      this.push(worker, pieces, gradient, lr);
      return;
    }
    const { weights } = this;
    const scale = lr / this.#settings.workers;
    let piece = 0;
    for (const [k, index] of indices.entries()) {
      while (index - first >= pieces[piece]!.start + pieces[piece]!.length) piece++;
      const { at, start } = pieces[piece]!;
      weights[at + index - first - start]! -= scale * values[k]! + GRID - GRID;
    }
  }

  /**
   * Adds to a gradient that has already been pushed, as if it had been part of it.
   * @param gradient of the whole shard
   */
  add(worker: number, gradient: Float32Array, lr: number): void {
    const { momentum, nesterov, workers } = this.#settings;
    const { weights } = this;
    const velocity = this.velocities[worker];
    const rate = lr * (nesterov ? 1 + momentum : 1);
    for (let i = 0; i < weights.length; i++) {
      const part = gradient[i]! / workers;
      if (velocity !== undefined) velocity[i]! += part;
      weights[i]! -= rate * part + GRID - GRID;
    }
  }

  /** Rounds the weights to f32. */
  round(): void {
    this.weights.set(Float32Array.from(this.weights));
  }

  /** Weight decay of one iteration, in these pieces. */
  decay(pieces: readonly SharePiece[], lr: number): void {
    const { weightDecay, workers } = this.#settings;
    if (weightDecay === 0) return;
    const velocity = this.velocities[workers];
    for (const { at, length } of pieces) {
      const decay = { values: this.weights, start: at, scale: weightDecay };
      this.#move(velocity, { at, length }, decay, lr);
    }
  }

  #move(
    velocity: Float32Array | undefined,
    { at, length }: Pick<SharePiece, 'at' | 'length'>,
    { scale, start, values }: Scaled,
    lr: number,
  ): void {
    const { momentum, nesterov } = this.#settings;
    const { weights } = this;
    if (velocity === undefined) {
      for (let i = 0; i < length; i++) {
        weights[at + i]! -= lr * scale * values[start + i]! + GRID - GRID;
      }
      return;
    }
    for (let i = 0; i < length; i++) {
      const gradient = scale * values[start + i]!;
      const v = momentum * velocity[at + i]! + gradient;
      velocity[at + i] = v;
      weights[at + i]! -= lr * (nesterov ? gradient + momentum * v : v) + GRID - GRID;
    }
  }
}

/** A gradient: these values from `start` on, times `scale`. */
interface Scaled {
  readonly values: Float32Array | Float64Array;
  readonly start: number;
  readonly scale: number;
}

/** Indices ascend, count from the start of the bucket, and are within the share. */
export interface Entries {
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}
