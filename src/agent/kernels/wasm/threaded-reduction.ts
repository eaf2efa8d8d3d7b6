/** Dense reductions on several threads; those of streams stay on the calling thread. */
import { overlap, type Region, type Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import type { Kernels } from '../kernels.ts';
import { requireSameLength } from '../preconditions.ts';
import {
  OPERATION_CODES,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';
import type { KernelThreads } from './kernel-threads.ts';

export class ThreadedReduction implements ReductionKernels {
  readonly #threads: KernelThreads;
  readonly #alone: ReductionKernels;
  readonly #sums: Pick<Kernels, 'add' | 'fill'>;

  /**
   * @param alone the kernels of one thread
   * @param sums on several
   */
  constructor(
    threads: KernelThreads,
    alone: ReductionKernels,
    sums: Pick<Kernels, 'add' | 'fill'>,
  ) {
    this.#threads = threads;
    this.#alone = alone;
    this.#sums = sums;
  }

  clear(operation: ReduceOperation, out: Vector): void {
    if (operation === 'sum') this.#sums.fill(out, 0);
    else this.#alone.clear(operation, out);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    const threads = this.#threads;
    if (operation === 'sum') {
      this.#sums.add(out, x);
    } else if (threads.takes(x.length) && !overlap(out, x)) {
      requireSameLength(out, x);
      threads
        .job('combine', x.length)
        .fixed(OPERATION_CODES[operation])
        .elements(out)
        .elements(x)
        .length();
      threads.run();
    } else {
      this.#alone.combine(operation, out, x);
    }
  }

  scatter(
    operation: ReduceOperation,
    out: Vector,
    start: number,
    stream: SparseStream,
  ): void {
    this.#alone.scatter(operation, out, start, stream);
  }

  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
  ): SparseStream {
    return this.#alone.merge(operation, a, b, out);
  }

  firstDisordered(stream: SparseStream, start: number, end: number): number {
    return this.#alone.firstDisordered(stream, start, end);
  }

  firstAtLeast(stream: SparseStream, bound: number): number {
    return this.#alone.firstAtLeast(stream, bound);
  }
}
