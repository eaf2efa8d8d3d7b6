/**
 * Thin factors of matrices: a part of `Work`, with its promises. Factors travel, so they lie
 * in the arena; a GPU has a copy of its own to compute with. `fetch…` and `send…` bring one
 * up to date with the other, and do nothing where both are the same.
 */
import type { Vector } from '../memory/arena.ts';
import type { Answer } from './steps.ts';

/** In elements. */
export interface FactorRoom {
  /** Tensors that travel whole, and left factors. */
  readonly lefts: number;
  readonly rights: number;
  /** Columns that no matrix exceeds. */
  readonly widest: number;
}

/** A matrix of rows × columns, row-major, and where its factors of `rank` columns lie. */
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
  /** All of it, in the arena: `lefts`, and `rights` right behind. */
  readonly memory: Vector;
  readonly lefts: Vector;
  readonly rights: Vector;
  /** To the arena. */
  fetchLefts(): Answer<void>;
  fetchRights(): Answer<void>;
  /** From the arena. */
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
