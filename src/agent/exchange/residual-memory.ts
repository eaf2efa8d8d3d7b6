/**
 * The residual of error feedback, one flat vector in the order of the gradient, so that it
 * outlives buckets and, in equal units, methods. What a method leaves behind that the next
 * cannot use waits here until one dense exchange flushes it.
 */
import type { Arena, Region, Vector } from '../kernels/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Transition } from './residual-transition.ts';

type OwnedVector = Region & Vector;

export class ResidualMemory {
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #length: number;
  #vector: OwnedVector | undefined;
  #leftover: OwnedVector | undefined;

  constructor(arena: Arena, kernels: Kernels, length: number) {
    this.#arena = arena;
    this.#kernels = kernels;
    this.#length = length;
  }

  /** The residual of the method in force, if it keeps one. */
  get vector(): Vector | undefined {
    return this.#vector;
  }

  /** For a method that keeps a residual: the one there is, else one of zeros. */
  keep(): Vector {
    if (this.#vector === undefined) {
      this.#vector = this.#arena.allocateVector(this.#length);
      this.#kernels.fill(this.#vector, 0);
    }
    return this.#vector;
  }

  /** The method that kept it ends. */
  retire(transition: Transition): void {
    const residual = this.#vector;
    if (residual === undefined || transition.residual === 'kept') return;
    this.#vector = undefined;
    if (transition.residual === 'dropped') {
      this.#arena.release(residual);
    } else if (this.#leftover === undefined) {
      this.#leftover = residual;
    } else {
      // Two methods retired at one fence: one exchange flushes what both kept back.
      this.#kernels.add(this.#leftover, residual);
      this.#arena.release(residual);
    }
  }

  /** Hand what is left over to `flush`, which must have spent it when it resolves. */
  async flush(flush: (leftover: Vector) => Promise<void>): Promise<void> {
    const leftover = this.#leftover;
    if (leftover === undefined) return;
    this.#leftover = undefined;
    await flush(leftover);
    this.#arena.release(leftover);
  }
}
