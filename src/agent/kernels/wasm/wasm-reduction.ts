/**
 * The reduction kernels in SIMD WebAssembly, of either type of value. Source:
 * `assembly/stream-reduction.ts`.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { requireSameLength, requireStreamCapacity } from '../preconditions.ts';
import {
  ABSENT_BITS,
  OPERATION_CODES,
  requireWithin,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';
import type { ValueBytes, ValueType } from '../../memory/value-type.ts';

type Combine = (op: number, out: number, x: number, n: number) => void;
type Scatter = (op: number, out: number, stream: number, count: number) => void;
type Merge = (
  op: number,
  a: number,
  aCount: number,
  b: number,
  bCount: number,
  out: number,
) => number;
type Ordered = (stream: number, count: number, start: number, end: number) => number;

export interface ReductionExports {
  combine: Combine;
  combine64: Combine;
  scatter: Scatter;
  scatter64: Scatter;
  merge: Merge;
  merge64: Merge;
  firstDisordered: Ordered;
}

/** What the kernels of one type of value are made of. */
interface ReductionSteps {
  readonly bytes: ValueBytes;
  readonly combine: Combine;
  readonly scatter: Scatter;
  readonly merge: Merge;
  readonly firstDisordered: Ordered;
}

export function reductionSteps(run: ReductionExports, type: ValueType): ReductionSteps {
  const { firstDisordered } = run;
  if (type === 'f64') {
    const { combine64, scatter64, merge64 } = run;
    return {
      bytes: 8,
      combine: combine64,
      scatter: scatter64,
      merge: merge64,
      firstDisordered,
    };
  }
  return {
    bytes: 4,
    combine: run.combine,
    scatter: run.scatter,
    merge: run.merge,
    firstDisordered,
  };
}

export class WasmReduction implements ReductionKernels {
  readonly #arena: Arena;
  readonly #steps: ReductionSteps;

  constructor(arena: Arena, steps: ReductionSteps) {
    this.#arena = arena;
    this.#steps = steps;
  }

  clear(operation: ReduceOperation, { offset, length }: Vector): void {
    const words = (length * this.#steps.bytes) / 4;
    this.#arena.u32(offset, words).fill(operation === 'sum' ? 0 : ABSENT_BITS);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    requireSameLength(out, x);
    this.#steps.combine(OPERATION_CODES[operation], out.offset, x.offset, x.length);
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
    const base = out.offset - this.#steps.bytes * start;
    this.#steps.scatter(OPERATION_CODES[operation], base, offset, count);
  }

  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
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

  firstDisordered({ offset, count }: SparseStream, start: number, end: number): number {
    const position = this.#steps.firstDisordered(offset, count, start, end);
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
