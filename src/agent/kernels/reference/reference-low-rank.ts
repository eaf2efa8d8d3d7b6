/** The low-rank kernels in obvious TypeScript. */
import type { Arena, Vector } from '../../memory/arena.ts';
import { factorRank, type LowRankKernels, type Matrix } from '../low-rank.ts';

export class ReferenceLowRank implements LowRankKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  timesFactor(matrix: Matrix, right: Vector, left: Vector): void {
    const { rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    const m = this.#elements(matrix);
    const r = this.#arena.f32(right);
    const l = this.#arena.f32(left);
    for (let i = 0; i < rows; i++) {
      for (let c = 0; c < rank; c++) {
        let sum = 0;
        for (let j = 0; j < columns; j++) {
          sum += m[i * columns + j]! * r[c * columns + j]!;
        }
        l[c * rows + i] = sum;
      }
    }
  }

  transposedTimesFactor(matrix: Matrix, left: Vector, right: Vector): void {
    const { rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    const m = this.#elements(matrix);
    const l = this.#arena.f32(left);
    const r = this.#arena.f32(right);
    for (let c = 0; c < rank; c++) {
      for (let j = 0; j < columns; j++) {
        let sum = 0;
        for (let i = 0; i < rows; i++) {
          const product = Math.fround(m[i * columns + j]! * l[c * rows + i]!);
          sum = Math.fround(sum + product);
        }
        r[c * columns + j] = sum;
      }
    }
  }

  addProduct(matrix: Matrix, left: Vector, right: Vector, factor: number): void {
    const { rows, columns } = matrix;
    const rank = factorRank(matrix, left, right);
    const m = this.#elements(matrix);
    const l = this.#arena.f32(left);
    const r = this.#arena.f32(right);
    const factor32 = Math.fround(factor);
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        let sum = m[i * columns + j]!;
        for (let c = 0; c < rank; c++) {
          const scaled = Math.fround(l[c * rows + i]! * factor32);
          sum = Math.fround(sum + Math.fround(scaled * r[c * columns + j]!));
        }
        m[i * columns + j] = sum;
      }
    }
  }

  #elements({ offset, rows, columns }: Matrix): Float32Array {
    return this.#arena.f32({ offset, length: rows * columns });
  }
}
