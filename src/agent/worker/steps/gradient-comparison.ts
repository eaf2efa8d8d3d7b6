/**
 * Measures the error of compression periodically: how far the applied gradient is from the
 * one that ranks would have got without compression in the same iteration. It costs a copy
 * of the gradient, one dense reduction outside the iteration and four passes.
 */
import type { Arena, Vector } from '../../memory/arena.ts';
import type { RivalMethod } from '../../../shared/records/comparison.ts';
import type { Magnitudes } from '../../../shared/records/magnitudes.ts';
import type { EngineClient } from '../engine/engine-client.ts';
import { magnitudesOf } from './magnitude-histogram.ts';
import { keptSquares, rivalsOf } from './rival-methods.ts';

export interface GradientDifference {
  /** ‖applied − uncompressed‖ / ‖uncompressed‖, squares averaged over ranks. */
  readonly error?: number;
  /** The most that `error` is expected to be, by what the methods' papers prove of one rank's payload. */
  readonly bound?: number;
  /** Cosine between the two, over all ranks; −1…1. */
  readonly cosine?: number;
  /** The cosine that other methods would keep; absent if the gradient is 0. */
  readonly rivals?: readonly RivalMethod[];
}

export class GradientComparison {
  readonly #engine: EngineClient;
  readonly #arena: Arena;
  #own: Vector | undefined;

  constructor(engine: EngineClient, arena: Arena) {
    this.#engine = engine;
    this.#arena = arena;
  }

  /** Keeps this rank's gradient before it is exchanged. */
  async keep(gradient: Float32Array): Promise<void> {
    this.#own ??= (
      await this.#engine.call('allocate', { length: gradient.length })
    ).vector;
    this.#arena.f32(this.#own).set(gradient);
  }

  /**
   * Compares on all ranks together; the result is the same on each.
   * @param applied the exchange's result for the kept gradient
   * @param bound of a rank's expected squared error, relative to its gradient's squared norm, if there is one
   */
  async difference(applied: Float32Array, bound?: number): Promise<GradientDifference> {
    const vector = this.#own;
    if (vector === undefined) throw new Error('internal: no gradient was kept');
    const own = squaredNorm(this.#arena.f32(vector));
    await this.#engine.call('average', { vector, measures: true });
    const uncompressed = this.#uncompressed;
    const sums = [
      1,
      own,
      ...sumsOf(applied, uncompressed),
      ...keptSquares(uncompressed),
    ];
    const { values } = await this.#engine.call('summarize', {
      values: sums,
      operations: sums.map(() => 'sum' as const),
    });
    const [ranks = 0, owns = 0, apart = 0, product = 0, squares = 0, reference = 0] =
      values;
    const kept = values.slice(6);
    const rivals = rivalsOf(kept, reference);
    return {
      ...finite('error', Math.sqrt(apart / reference)),
      // Errors of ranks are independent: that of their average has the mean of their squares, divided by their
      // number. The reference has a square of every rank.
      ...(bound === undefined
        ? {}
        : finite('bound', Math.sqrt((bound * owns) / (ranks * reference)))),
      ...finite('cosine', product / Math.sqrt(squares * reference)),
      ...(rivals.length === 0 ? {} : { rivals }),
    };
  }

  /** Magnitudes of what was compared last, on this rank. */
  magnitudes(applied: Float32Array): Record<'applied' | 'uncompressed', Magnitudes> {
    return {
      uncompressed: magnitudesOf(this.#uncompressed),
      applied: magnitudesOf(applied),
    };
  }

  /** The average of what the ranks kept, once they have compared it. */
  get #uncompressed(): Float32Array {
    return this.#arena.f32(this.#own!);
  }
}

function squaredNorm(x: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i]! * x[i]!;
  return sum;
}

/** Sums of (x − y)², x·y, x² and y² over the elements. */
function sumsOf(x: Float32Array, y: Float32Array): readonly number[] {
  let apart = 0;
  let product = 0;
  let squares = 0;
  let reference = 0;
  for (let i = 0; i < x.length; i++) {
    const a = x[i]!;
    const b = y[i]!;
    apart += (a - b) * (a - b);
    product += a * b;
    squares += a * a;
    reference += b * b;
  }
  return [apart, product, squares, reference];
}

/** Returns the value under its key, or nothing if the gradient to compare with is 0. */
const finite = <K extends string>(key: K, value: number): Partial<Record<K, number>> =>
  Number.isFinite(value) ? ({ [key]: value } as Record<K, number>) : {};
