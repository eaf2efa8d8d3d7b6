/** The reduction kernels in SIMD WebAssembly. Source: `assembly/stream-reduction.ts`. */
import type { Arena, Region, Vector } from '../arena.ts';
import type { SparseStream } from '../kernels.ts';
import { requireSameLength, requireStreamCapacity } from '../preconditions.ts';
import {
  ABSENT_BITS,
  OPERATION_CODES,
  requireWithin,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';

export interface ReductionExports {
  add(out: number, x: number, n: number): void;
  combine(op: number, out: number, x: number, n: number): void;
  scatter(op: number, out: number, stream: number, count: number): void;
  mergeStreams(
    a: number,
    aCount: number,
    b: number,
    bCount: number,
    out: number,
  ): number;
  merge(
    op: number,
    a: number,
    aCount: number,
    b: number,
    bCount: number,
    out: number,
  ): number;
  firstDisordered(stream: number, count: number, start: number, end: number): number;
}

export class WasmReduction implements ReductionKernels {
  readonly #arena: Arena;
  readonly #run: ReductionExports;

  constructor(arena: Arena, exports: ReductionExports) {
    this.#arena = arena;
    this.#run = exports;
  }

  clear(operation: ReduceOperation, { offset, length }: Vector): void {
    this.#arena.u32(offset, length).fill(operation === 'sum' ? 0 : ABSENT_BITS);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    requireSameLength(out, x);
    if (operation === 'sum') this.#run.add(out.offset, x.offset, x.length);
    else {
      const code = OPERATION_CODES[operation];
      this.#run.combine(code, out.offset, x.offset, x.length);
    }
  }

  scatter(
    operation: ReduceOperation,
    out: Vector,
    start: number,
    { offset, count }: SparseStream,
  ): void {
    const indices = this.#arena.u32(offset, count);
    requireWithin(indices[0], indices[count - 1], start, out.length);
    // The address of element 0 may lie before the arena: addresses wrap at 4 GiB.
    const base = out.offset - 4 * start;
    this.#run.scatter(OPERATION_CODES[operation], base, offset, count);
  }

  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
  ): SparseStream {
    requireStreamCapacity(out, a.count + b.count);
    const count =
      operation === 'sum'
        ? this.#run.mergeStreams(a.offset, a.count, b.offset, b.count, out.offset)
        : this.#run.merge(
            OPERATION_CODES[operation],
            a.offset,
            a.count,
            b.offset,
            b.count,
            out.offset,
          );
    return { offset: out.offset, count };
  }

  firstDisordered({ offset, count }: SparseStream, start: number, end: number): number {
    const position = this.#run.firstDisordered(offset, count, start, end);
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
