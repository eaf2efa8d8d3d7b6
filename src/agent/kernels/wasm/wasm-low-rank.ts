/** The low-rank kernels in SIMD WebAssembly. Source: `assembly/low-rank.ts`. */
import { factorRank, type LowRankKernels, type Matrix } from '../low-rank.ts';
import type { At, Elements, KernelExports } from './kernel-exports.ts';

type M = Matrix & At<'matrix'>;
type X = Elements<'x'>;
type Out = Elements<'out'>;

export class WasmLowRank implements LowRankKernels {
  readonly #run: KernelExports;

  constructor(exports: KernelExports) {
    this.#run = exports;
  }

  timesFactor(matrix: M, right: X, left: Out): void {
    const { offset, rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    this.#run.timesFactor(offset, rows, columns, right.offset, left.offset, rank);
  }

  transposedTimesFactor(matrix: M, left: X, right: Out): void {
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

  addProduct(matrix: M, left: X, right: X, factor: number): void {
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
