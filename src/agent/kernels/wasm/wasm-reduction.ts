/**
 * The reduction kernels in SIMD WebAssembly, of either type of value. Streams are reduced
 * on the calling thread, and so are f64 values. Source: `assembly/stream-reduction.ts`.
 */
import type { Arena, Region } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import {
  requireSameLength,
  requireStreamCapacity,
  requireWithin,
} from '../preconditions.ts';
import {
  ABSENT_BITS,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';
import type { ValueBytes, ValueType } from '../../memory/value-type.ts';
import type { At, Elements, KernelExports, Of, Stream } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';

/** Numbers of the operations, as in assembly/stream-reduction.ts. */
const OPERATION_CODES = { sum: 0, min: 1, max: 2, prod: 3 } as const;

/** The exports that the kernels of one type of value use. */
interface ReductionSteps extends Pick<KernelExports, 'combine' | 'scatter' | 'merge'> {
  readonly bytes: ValueBytes;
}

export function reductionSteps(pool: KernelPool, type: ValueType): ReductionSteps {
  const { combine64, scatter, scatter64, merge, merge64 } = pool.exports;
  if (type === 'f64') {
    return { bytes: 8, combine: combine64, scatter: scatter64, merge: merge64 };
  }
  return {
    bytes: 4,
    combine: (operation, out, x, n) => {
      pool.over(n).combine(operation, out, x, n);
    },
    scatter,
    merge,
  };
}

export class WasmReduction implements ReductionKernels {
  readonly #arena: Arena;
  readonly #pool: KernelPool;
  readonly #steps: ReductionSteps;

  constructor(arena: Arena, pool: KernelPool, steps: ReductionSteps) {
    this.#arena = arena;
    this.#pool = pool;
    this.#steps = steps;
  }

  clear(operation: ReduceOperation, { offset, length }: Elements<'out'>): void {
    const words = ((length * this.#steps.bytes) / 4) as Of<'n'>;
    if (operation === 'sum') this.#pool.over(words).fill(offset, words, 0);
    else this.#arena.u32(offset, words).fill(ABSENT_BITS);
  }

  combine(operation: ReduceOperation, out: Elements<'out'>, x: Elements<'x'>): void {
    requireSameLength(out, x);
    this.#steps.combine(OPERATION_CODES[operation], out.offset, x.offset, x.length);
  }

  scatter(
    operation: ReduceOperation,
    out: Elements<'out'>,
    start: number,
    { offset, count }: Stream,
  ): void {
    const indices = this.#arena.u32(offset, count);
    requireWithin(indices[0], indices[count - 1], start, out.length);
    // The address of element 0 may be before the arena: addresses wrap at 4 GiB.
    const base = (out.offset - this.#steps.bytes * start) as Of<'out'>;
    this.#steps.scatter(OPERATION_CODES[operation], base, offset, count);
  }

  merge(
    operation: ReduceOperation,
    a: Stream,
    b: Stream,
    out: Region & At<'entries'>,
  ): SparseStream {
    requireStreamCapacity(out, a.count + b.count, this.#steps.bytes);
    const count = this.#steps.merge(
      OPERATION_CODES[operation],
      a.offset,
      a.count,
      b.offset,
      b.count,
      out.offset,
    );
    return { offset: out.offset, count };
  }

  firstDisordered({ offset, count }: Stream, start: number, end: number): number {
    const { firstDisordered } = this.#pool.exports;
    const position = firstDisordered(offset, count, start, end);
    return position === count ? -1 : position;
  }

  firstAtLeast({ offset, count }: SparseStream, bound: number): number {
    const indices = this.#arena.u32(offset, count);
    let low = 0;
    let high = count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (indices[middle]! < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
