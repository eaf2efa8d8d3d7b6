/**
 * Low-rank products on the GPU: with the promises of `kernels/low-rank.ts`, for matrices
 * there.
 */
import { bitsOf } from '../float-bits.ts';
import { ROWS_TILE } from '../wgsl/elementwise.ts';
import {
  addProduct,
  addTransposedTimesFactor,
  ROWS_TOGETHER,
  timesFactor,
} from '../wgsl/low-rank.ts';
import type { GpuDevice } from './gpu-device.ts';
import { windowsOf, type BufferRange, type GpuVector } from './gpu-vector.ts';
import { WholeRuns } from './whole-runs.ts';

/** rows · columns elements, row-major. */
export interface GpuMatrix {
  readonly elements: GpuVector;
  readonly rows: number;
  readonly columns: number;
}

const MOST_GROUPS = 4096;

export class DeviceLowRank implements Disposable {
  readonly #gpu: GpuDevice;
  readonly #rows: WholeRuns;

  /** @param widest the largest number of columns of a matrix */
  constructor(gpu: GpuDevice, widest: number) {
    this.#gpu = gpu;
    this.#rows = new WholeRuns(gpu, widest);
  }

  /** left ← M · right. `left`: r·rows elements, `right`: r·columns. */
  timesFactor(matrix: GpuMatrix, right: BufferRange, left: BufferRange): void {
    const { elements, rows, columns } = matrix;
    const rank = right.length / columns;
    for (const { first, part } of this.#rows.of(elements, columns)) {
      const count = part.length / columns;
      const groups = Math.min(Math.ceil(count / ROWS_TOGETHER), MOST_GROUPS);
      this.#gpu.commands.dispatch(
        timesFactor,
        groups,
        { matrix: part, right, left },
        { count, first: first / columns, rows, columns, rank, groups },
      );
    }
  }

  /** right ← Mᵀ · left, rows added in order. */
  transposedTimesFactor(
    matrix: GpuMatrix,
    left: BufferRange,
    right: BufferRange,
  ): void {
    const { elements, rows, columns } = matrix;
    const { commands } = this.#gpu;
    commands.clear(right);
    for (const { first, length, parts } of windowsOf([elements])) {
      const window = { length: right.length, first, end: first + length };
      const workgroups = Math.ceil(right.length / 64);
      for (const { firstGroup, groups } of this.#gpu.dispatchesOf(workgroups)) {
        commands.dispatch(
          addTransposedTimesFactor,
          groups,
          { matrix: parts[0], left, right },
          { ...window, rows, columns, firstGroup },
        );
      }
    }
  }

  /** M ← M + factor · left · rightᵀ, columns of the factors added in order. */
  addProduct(
    matrix: GpuMatrix,
    left: BufferRange,
    right: BufferRange,
    factor: number,
  ): void {
    const { elements, rows, columns } = matrix;
    const rank = right.length / columns;
    for (const { first, length, parts } of windowsOf([elements])) {
      this.#gpu.commands.dispatch(
        addProduct,
        Math.ceil(length / ROWS_TILE),
        { matrix: parts[0], left, right },
        { length, first, rows, columns, rank, factor: bitsOf(factor) },
      );
    }
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]();
  }
}
