/**
 * The layout of PowerSGD's factors: whole tensors, then all left factors, then all right
 * factors, from which the next iteration starts. In elements, from the start of the
 * memory of factors.
 */
import { CounterRandom, type RandomStream } from '../kernels/random.ts';
import type { FactoredShape } from '../work/factors.ts';
import type { TensorSlice } from './method.ts';
import { normalize } from './orthonormal.ts';

/**
 * A matrix of the bucket, beginning at element `start`, and the positions of its factors.
 */
export interface Factored extends FactoredShape {
  readonly start: number;
}

/** A tensor that travels whole, and its position. */
interface Whole {
  readonly start: number;
  readonly length: number;
  readonly at: number;
}

export interface LowRankLayout {
  readonly wholes: readonly Whole[];
  readonly matrices: readonly Factored[];
  /** Elements of the first reduction: whole tensors and left factors. */
  readonly lefts: number;
  /** Elements of the second: right factors. */
  readonly rights: number;
}

/** Separates these draws from others with the same position: "powr". */
const PURPOSE = 0x706f7772;

/** Lays out factors of at most `rank` columns. */
export function layOut(tensors: readonly TensorSlice[], rank: number): LowRankLayout {
  const wholes: Whole[] = [];
  const shapes: Omit<Factored, 'left' | 'right'>[] = [];
  let end = 0;
  for (const { start, length, shape } of tensors) {
    const rows = shape.length < 2 ? 1 : shape[0]!;
    const columns = rows === 0 ? 0 : length / rows;
    const r = Math.min(rank, rows, columns);
    if (r * (rows + columns) < length) {
      shapes.push({ start, rows, columns, rank: r });
    } else {
      wholes.push({ start, length, at: end });
      end += length;
    }
  }
  const leftAt = shapes.map(({ rows, rank: r }) => {
    end += r * rows;
    return end - r * rows;
  });
  let rights = 0;
  const matrices = shapes.map((shape, index) => {
    const right = rights;
    rights += shape.rank * shape.columns;
    return { ...shape, left: leftAt[index]!, right };
  });
  return { wholes, matrices, lefts: end, rights };
}

/**
 * Q of the last iteration, scaled; columns that are 0, or all of them, are drawn again.
 */
export function prepareStart(
  rightFactors: Float32Array,
  { matrices }: LowRankLayout,
  context: Pick<RandomStream, 'seed' | 'bucket' | 'iteration'> & {
    readonly parameters: { readonly warmStart: boolean };
  },
): void {
  const { seed, bucket = 0, iteration = 0, parameters } = context;
  // The stream's name has no rank, so all ranks start from the same columns.
  const random = new CounterRandom({ seed, bucket, iteration, purpose: PURPOSE });
  for (const { right, rank, columns } of matrices) {
    for (let c = 0; c < rank; c++) {
      const start = right + c * columns;
      const column = rightFactors.subarray(start, start + columns);
      if (parameters.warmStart && normalize(column) > 0) continue;
      for (let i = 0; i < columns; i++) column[i] = 2 * random.uniform(start + i) - 1;
      normalize(column);
    }
  }
}
