/** The low-rank kernels in SIMD WebAssembly. Source: `assembly/low-rank.ts`. */
import type { Vector } from '../../memory/arena.ts';
import { factorRank, type LowRankKernels, type Matrix } from '../low-rank.ts';

type Product = (
  matrix: number,
  rows: number,
  columns: number,
  from: number,
  to: number,
  rank: number,
) => void;

export interface LowRankExports {
  readonly timesFactor: Product;
  readonly transposedTimesFactor: Product;
  addProduct(
    matrix: number,
    rows: number,
    columns: number,
    left: number,
    right: number,
    rank: number,
    factor: number,
  ): void;
}

export class WasmLowRank implements LowRankKernels {
  readonly #run: LowRankExports;

  constructor(exports: LowRankExports) {
    this.#run = exports;
  }

  timesFactor(matrix: Matrix, right: Vector, left: Vector): void {
    const { offset, rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    this.#run.timesFactor(offset, rows, columns, right.offset, left.offset, rank);
  }

  transposedTimesFactor(matrix: Matrix, left: Vector, right: Vector): void {
    const { offset, rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    this.#run.transposedTimesFactor(
      offset,
      rows,
      columns,
      left.offset,
      right.offset,
      rank,
    );
  }

  addProduct(matrix: Matrix, left: Vector, right: Vector, factor: number): void {
    this.#run.addProduct(
      matrix.offset,
      matrix.rows,
      matrix.columns,
      left.offset,
      right.offset,
      factorRank(matrix, left, right),
      factor,
    );
  }
}
