/**
 * The residual of error feedback, one flat vector in the order of the gradient, so that it
 * outlives buckets and, in equal units, methods. What a method leaves behind that the next
 * cannot use waits here until one dense exchange flushes it.
 */
import type { Vector } from '../memory/arena.ts';
import type { FlatRange, Transition } from '../plan/residual-transition.ts';

/** Vectors as long as the gradient, where the gradient lives. */
export interface VectorMemory<V> {
  /** All elements. */
  readonly whole: readonly FlatRange[];
  /** Zeros. */
  allocate(): V;
  release(vector: V): void;
  /** out ← out + x */
  add(out: V, x: V): void;
  /** x ← x · factor */
  scale(x: V, factor: number): void;
  /** In the ranges: out ← out + x, where there is an out, and x ← 0. */
  move(out: V | undefined, x: V, ranges: readonly FlatRange[]): void;
  /** ‖x‖², of some of its elements where ranges are given. */
  squaredNorm(x: V, ranges?: readonly FlatRange[]): number | Promise<number>;
  /** Its values, valid until it changes. */
  values(vector: V): Float32Array | Promise<Float32Array>;
  /** vector ← values */
  set(vector: V, values: Float32Array): void;
  /** Work on the vector's values in the arena, which become the vector's. */
  inArena(vector: V, work: (vector: Vector) => Promise<void>): Promise<void>;
  /** gradient ← gradient + x */
  addToGradient(x: V): void;
}

/** What the engine does with a residual, at any site. */
export type Residual = Pick<
  ResidualMemory<unknown>,
  'retire' | 'scale' | 'drain' | 'flush' | 'squaredNorm' | 'save' | 'restore'
>;

export class ResidualMemory<V> implements Disposable {
  readonly #memory: VectorMemory<V>;
  #vector: V | undefined;
  #leftover: V | undefined;

  constructor(memory: VectorMemory<V>) {
    this.#memory = memory;
  }

  /** For a method that keeps a residual: the one there is, else one of zeros. */
  keep(): V {
    this.#vector ??= this.#memory.allocate();
    return this.#vector;
  }

  /** Of the residual there is, or of parts of it; undefined where no method keeps one. */
  squaredNorm(ranges?: readonly FlatRange[]): number | Promise<number> | undefined {
    if (this.#vector === undefined) return undefined;
    return this.#memory.squaredNorm(this.#vector, ranges);
  }

  /**
   * The values of the residual there is, valid until the next exchange; undefined where no
   * method keeps one. Nothing may be left over to be flushed.
   */
  save(): Float32Array | Promise<Float32Array> | undefined {
    if (this.#leftover !== undefined) throw new Error('internal: a residual to flush');
    return this.#vector === undefined ? undefined : this.#memory.values(this.#vector);
  }

  restore(values: Float32Array): void {
    this.#memory.set(this.keep(), values);
  }

  /** The method that kept it ends. */
  retire(transition: Transition): void {
    const residual = this.#vector;
    if (residual === undefined || transition.residual === 'kept') return;
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
      // Two methods retired at one fence: one exchange flushes what both kept back.
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
   * All of the residual there is waits to be flushed; it begins again, at 0.
   * @returns its elements; 0 where no method keeps one
   */
  drain(): number {
    if (this.#vector === undefined) return 0;
    const { whole } = this.#memory;
    this.#leftover ??= this.#memory.allocate();
    this.#memory.move(this.#leftover, this.#vector, whole);
    return whole.reduce((sum, { length }) => sum + length, 0);
  }

  /** Add to the gradient what `average` makes of what is left over, if anything is. */
  async flush(average: (leftover: Vector) => Promise<void>): Promise<void> {
    const leftover = this.#leftover;
    if (leftover === undefined) return;
    this.#leftover = undefined;
    await this.#memory.inArena(leftover, average);
    this.#memory.addToGradient(leftover);
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
