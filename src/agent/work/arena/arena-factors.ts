/** Thin factors of matrices in the arena: the same memory is sent and computed with. */
import type { Kernels } from '../../kernels/kernels.ts';
import type { Matrix } from '../../kernels/low-rank.ts';
import type { Vector } from '../../memory/arena.ts';
import type { FactoredShape, FactorRoom, Factors } from '../factors.ts';

export class ArenaFactors implements Factors<Vector> {
  readonly memory: Vector;
  readonly lefts: Vector;
  readonly rights: Vector;
  readonly #kernels: Kernels;

  /** @param memory zeros, of `lefts` + `rights` elements */
  constructor(kernels: Kernels, memory: Vector, { lefts, rights }: FactorRoom) {
    this.#kernels = kernels;
    this.memory = memory;
    this.lefts = part(memory, 0, lefts);
    this.rights = part(memory, lefts, rights);
  }

  fetchLefts(): void {
    // They are there.
  }

  fetchRights(): void {
    // They are there.
  }

  sendLefts(): void {
    // They are there.
  }

  sendRights(): void {
    // They are there.
  }

  copyTo(x: Vector, at: number): void {
    this.#kernels.copy(x, part(this.lefts, at, x.length));
  }

  copyFrom(x: Vector, at: number): void {
    this.#kernels.copy(part(this.lefts, at, x.length), x);
  }

  timesFactor(matrix: Vector, shape: FactoredShape): void {
    const [left, right] = this.#of(shape);
    this.#kernels.lowRank.timesFactor(matrixOf(matrix, shape), right, left);
  }

  transposedTimesFactor(matrix: Vector, shape: FactoredShape): void {
    const [left, right] = this.#of(shape);
    this.#kernels.lowRank.transposedTimesFactor(matrixOf(matrix, shape), left, right);
  }

  addProduct(matrix: Vector, shape: FactoredShape, factor: number): void {
    const [left, right] = this.#of(shape);
    this.#kernels.lowRank.addProduct(matrixOf(matrix, shape), left, right, factor);
  }

  #of({ left, right, rank, rows, columns }: FactoredShape): [Vector, Vector] {
    return [
      part(this.lefts, left, rank * rows),
      part(this.rights, right, rank * columns),
    ];
  }
}

function part({ offset }: Vector, start: number, length: number): Vector {
  return { offset: offset + 4 * start, length };
}

function matrixOf({ offset }: Vector, { rows, columns }: FactoredShape): Matrix {
  return { offset, rows, columns };
}
