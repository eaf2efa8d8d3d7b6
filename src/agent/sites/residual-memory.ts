/**
 * The residual of error feedback, one flat vector in the order of the gradient, so that it
 * outlives buckets and, in equal units, methods. A residual that the next method cannot
 * use waits here until one dense exchange flushes it.
 */
import type { Vector } from '../memory/arena.ts';
import type { FlatRange, Transition } from '../plan/residual-transition.ts';

/** Operations on vectors of the gradient's length, at the gradient's site. */
export interface VectorMemory<V> {
  /** All elements. */
  readonly whole: readonly FlatRange[];
  /** Allocates a vector of zeros. */
  allocate(): V;
  release(vector: V): void;
  /** out ← out + x */
  add(out: V, x: V): void;
  /** x ← x · factor */
  scale(x: V, factor: number): void;
  /** Moves elements in the ranges: out ← out + x, where there is an out, and x ← 0. */
  move(out: V | undefined, x: V, ranges: readonly FlatRange[]): void;
  /** ‖x‖², of the elements in the ranges if given. */
  squaredNorm(x: V, ranges?: readonly FlatRange[]): number | Promise<number>;
  /** Returns the vector's values, valid until it changes. */
  values(vector: V): Float32Array | Promise<Float32Array>;
  /** vector ← values */
  set(vector: V, values: Float32Array): void;
  /** Works on a copy of the values in the arena, or of each range of them in turn, and writes it back. */
  inArena(
    vector: V,
    work: (vector: Vector) => Promise<void>,
    ranges?: readonly FlatRange[],
  ): Promise<void>;
  /** gradient ← gradient + x, in the ranges if given */
  addToGradient(x: V, ranges?: readonly FlatRange[]): void;
}

/** The engine's operations on a residual, at any site. */
export type Residual = Pick<
  ResidualMemory<unknown>,
  'retire' | 'scale' | 'drain' | 'flush' | 'squaredNorm' | 'save' | 'restore' | 'total'
>;

export class ResidualMemory<V> implements Disposable {
  readonly #memory: VectorMemory<V>;
  #vector: V | undefined;
  #leftover: V | undefined;
  /** Lengths of the parts of the leftover that were flushed alone, by their starts. */
  readonly #flushed = new Map<number, number>();

  constructor(memory: VectorMemory<V>) {
    this.#memory = memory;
  }

  /** Keeps a residual for a method that has one: the existing one, or zeros. */
  keep(): V {
    this.#vector ??= this.#memory.allocate();
    return this.#vector;
  }

  /** The residual; undefined if no method keeps one. */
  get kept(): V | undefined {
    return this.#vector;
  }

  /** The norm of the residual, or of parts of it; undefined if no method keeps one. */
  squaredNorm(ranges?: readonly FlatRange[]): number | Promise<number> | undefined {
    if (this.#vector === undefined) return undefined;
    return this.#memory.squaredNorm(this.#vector, ranges);
  }

  /**
   * The residual's values, valid until the next exchange; undefined if no method keeps
   * one. Nothing may be waiting to be flushed.
   */
  save(): Float32Array | Promise<Float32Array> | undefined {
    if (this.#leftover !== undefined) throw new Error('internal: a residual to flush');
    return this.#vector === undefined ? undefined : this.#memory.values(this.#vector);
  }

  /** All that is kept back, what waits to be flushed as well; undefined if nothing is kept. */
  async total(): Promise<Float32Array | undefined> {
    const kept = [this.#vector, this.#leftover].filter((one) => one !== undefined);
    const [first, ...others] = await Promise.all(
      kept.map(async (one) => (await this.#memory.values(one)).slice()),
    );
    for (const other of others) {
      for (const [i, value] of other.entries()) first![i]! += value;
    }
    return first;
  }

  restore(values: Float32Array): void {
    this.#memory.set(this.keep(), values);
  }

  /** The method that kept it ends. */
  retire(transition: Transition): void {
    const residual = this.#vector;
    if (residual === undefined || transition.residual === 'kept') return;
    this.#flushed.clear();
    const { leaving } = transition;
    if (leaving !== undefined) {
      if (transition.residual === 'flushed') this.#leftover ??= this.#memory.allocate();
      const out = transition.residual === 'flushed' ? this.#leftover : undefined;
      this.#memory.move(out, residual, leaving);
      return;
    }
    this.#vector = undefined;
    if (transition.residual === 'dropped') {
      this.#memory.release(residual);
    } else if (this.#leftover === undefined) {
      this.#leftover = residual;
    } else {
      // Two methods retired at one fence: one exchange flushes both residuals.
      this.#memory.add(this.#leftover, residual);
      this.#memory.release(residual);
    }
  }

  /** All that is kept back, what waits to be flushed as well. */
  scale(factor: number): void {
    for (const vector of [this.#vector, this.#leftover]) {
      if (vector !== undefined) this.#memory.scale(vector, factor);
    }
  }

  /**
   * Marks the whole residual to be flushed; a new one begins at 0.
   * @returns its elements; 0 if no method keeps one
   */
  drain(): number {
    if (this.#vector === undefined) return 0;
    const { whole } = this.#memory;
    this.#leftover ??= this.#memory.allocate();
    this.#memory.move(this.#leftover, this.#vector, whole);
    return whole.reduce((sum, { length }) => sum + length, 0);
  }

  /**
   * Averages what is waiting to be flushed, if anything, and adds it to the gradient.
   * @param parts of the vector that are averaged; the others wait for theirs; default: all of it.
   * Always the same parts, which together are the vector.
   */
  flush(
    average: (leftover: Vector) => Promise<void>,
    parts?: readonly FlatRange[],
  ): Promise<void> | undefined {
    const leftover = this.#leftover;
    if (leftover === undefined) return undefined;
    if (parts !== undefined) return this.#flushParts(leftover, average, parts);
    this.#leftover = undefined;
    return this.#flush(leftover, average);
  }

  #flushParts(
    leftover: V,
    average: (leftover: Vector) => Promise<void>,
    parts: readonly FlatRange[],
  ): Promise<void> | undefined {
    const due = parts.filter(({ start }) => !this.#flushed.has(start));
    if (due.length === 0) return undefined;
    for (const { length, start } of due) this.#flushed.set(start, length);
    const all = this.#memory.whole.reduce((sum, { length }) => sum + length, 0);
    const flushed = [...this.#flushed.values()].reduce((sum, n) => sum + n, 0);
    if (flushed < all) return this.#flushSome(leftover, average, due);
    this.#leftover = undefined;
    this.#flushed.clear();
    return this.#flush(leftover, average, due);
  }

  async #flushSome(
    leftover: V,
    average: (leftover: Vector) => Promise<void>,
    parts: readonly FlatRange[],
  ): Promise<void> {
    await this.#memory.inArena(leftover, average, parts);
    this.#memory.addToGradient(leftover, parts);
    this.#memory.move(undefined, leftover, parts);
  }

  async #flush(
    leftover: V,
    average: (leftover: Vector) => Promise<void>,
    parts?: readonly FlatRange[],
  ): Promise<void> {
    await this.#memory.inArena(leftover, average, parts);
    this.#memory.addToGradient(leftover, parts);
    this.#memory.release(leftover);
  }

  [Symbol.dispose](): void {
    for (const vector of [this.#vector, this.#leftover]) {
      if (vector !== undefined) this.#memory.release(vector);
    }
    this.#vector = undefined;
    this.#leftover = undefined;
  }
}
