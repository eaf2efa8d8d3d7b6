/**
 * Products of a matrix with a few vectors, for low-rank compression: M ≈ L·Rᵀ with L of
 * r columns as long as M has rows and R of r columns as long as M is wide. A factor's
 * columns are stored one after the other, each contiguous; M is row-major. Every kernel
 * reads M once. A part of `Kernels`.
 */
import type { Vector } from '../memory/arena.ts';

export interface Matrix {
  readonly offset: number;
  readonly rows: number;
  readonly columns: number;
}

export interface LowRankKernels {
  /** left ← M · right. `left`: r·rows elements, `right`: r·columns. */
  timesFactor(matrix: Matrix, right: Vector, left: Vector): void;
  /** right ← Mᵀ · left, rows added in order in f32. */
  transposedTimesFactor(matrix: Matrix, left: Vector, right: Vector): void;
  /** M ← M + factor · left · rightᵀ, columns of the factors added in order in f32. */
  addProduct(matrix: Matrix, left: Vector, right: Vector, factor: number): void;
}

/** r, from the factors' sizes, which must fit. */
export function factorRank(matrix: Matrix, left: Vector, right: Vector): number {
  const rank = matrix.rows === 0 ? 0 : left.length / matrix.rows;
  if (rank * matrix.rows !== left.length || rank * matrix.columns !== right.length) {
    throw new Error(
      `internal: factors of ${left.length} and ${right.length} elements for a matrix ` +
        `of ${matrix.rows} × ${matrix.columns}`,
    );
  }
  return rank;
}
