/**
 * Thin factors of matrices: a part of `Work`, with its promises. Factors are sent, so they
 * are in the arena; a GPU computes with its own copy. `fetch…` and `send…` synchronise the
 * two, and do nothing on a CPU.
 */
import type { Vector } from '../memory/arena.ts';
import type { Answer } from './steps.ts';

/** Room for the factors of a bucket, in elements. */
export interface FactorRoom {
  /** Tensors that travel whole, and left factors. */
  readonly lefts: number;
  readonly rights: number;
  /** The largest number of columns of a matrix. */
  readonly widest: number;
}

/**
 * A matrix of rows × columns, row-major, and the positions of its factors of `rank`
 * columns.
 */
export interface FactoredShape {
  readonly rows: number;
  readonly columns: number;
  readonly rank: number;
  /** First element of the left factor, of `lefts`. */
  readonly left: number;
  /** First element of the right factor, of `rights`. */
  readonly right: number;
}

export interface Factors<V> {
  /** All factors in the arena: `lefts`, then `rights`. */
  readonly memory: Vector;
  readonly lefts: Vector;
  readonly rights: Vector;
  /** Copies to the arena. */
  fetchLefts(): Answer<void>;
  fetchRights(): Answer<void>;
  /** Copies from the arena. */
  sendLefts(): void;
  sendRights(): void;
  /** x ← elements of `lefts` from `at` on. */
  copyTo(x: V, at: number): void;
  /** Elements of `lefts` from `at` on ← x. */
  copyFrom(x: V, at: number): void;
  /** left ← M · right */
  timesFactor(matrix: V, shape: FactoredShape): void;
  /** right ← Mᵀ · left, rows added in order. */
  transposedTimesFactor(matrix: V, shape: FactoredShape): void;
  /** M ← M + factor · left · rightᵀ, columns of the factors added in order. */
  addProduct(matrix: V, shape: FactoredShape, factor: number): void;
}
