/** Entries of vectors and how they are selected: a part of `Work`, with its promises. */
import type { IndexList } from '../kernels/sparsification.ts';
import type { Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { Answer } from './steps.ts';

/**
 * Entries of a vector, ascending by index, valid until the next selection into their room.
 * In the arena they are at the start of the room, in the form in which they are sent:
 * indices, then values.
 */
export interface Entries<V> {
  readonly count: number;
  /** values ← x at the indices. */
  gather(x: V): void;
  /** x[i] ← 0 for every index. */
  clearIn(x: V): void;
  /** out[i] ← out[i] + factor · value for every entry. */
  addTo(out: V, factor: number): void;
  /** values ← one value from the arena for each entry. */
  setValues(values: Vector): void;
  /** The indices in the arena. */
  indices(): Answer<IndexList>;
  /** The values in the arena, after the indices. */
  values(): Answer<Vector>;
  /** Indices and values. */
  stream(): Answer<SparseStream>;
}

export interface EntryRoom<V> {
  readonly capacity: number;
  /** Memory for this many indices, which the host writes for `named`. */
  list(count: number): IndexList;
  /**
   * Entries at the indices that the host has written to `list`; values are not set yet.
   */
  named(count: number): Entries<V>;
}

/** Fate of selected entries in x: `clear` sets them to 0. */
export type Leave = 'clear' | 'keep';

export interface Selector<V> extends EntryRoom<V> {
  /** Exactly min(k, n) entries with the largest |x|, ties by lower index. x must be finite. */
  topK(x: V, k: number, leave: Leave): Entries<V>;
  /**
   * Selects of each run of `run` consecutive elements exactly min(k, run) with the largest |x|, and
   * min(tailK, rest) of the shorter last run; ties by lower index. x must be finite.
   */
  topKPerRun(x: V, run: number, k: number, tailK: number, leave: Leave): Entries<V>;
  /** The entries with |x| ≥ threshold (≥ 0), at most as many as fit. */
  reaching(x: V, threshold: number, leave: Leave): Answer<Entries<V>>;
  /**
   * Opens a threshold search, which counts, and selects by the last count.
   * @param candidates most entries for repeated passes
   */
  search(x: V, candidates: number): ThresholdSearch<V>;
}

/** One search in one vector, which must not change until it has ended. */
export interface ThresholdSearch<V> {
  /**
   * Counts the entries that reach the threshold.
   * @param limit counts above this need not be distinguished
   * @param among `all` entries, or the `candidates` that reached the last threshold for all
   */
  count(threshold: number, limit: number, among: 'all' | 'candidates'): Answer<number>;
  /** The entries counted by the last question among candidates. */
  reaching(threshold: number, count: number, leave: Leave): Entries<V>;
  /**
   * k of the candidates: all that reach `high`, which are fewer than k, and the first of
   * those that reach only `low`.
   */
  ties(bounds: TieBounds, k: number, leave: Leave): Entries<V>;
}

export interface TieBounds {
  readonly low: number;
  readonly high: number;
  /** Entries that reach `high`. */
  readonly certain: number;
}

/** A part of a vector from which at most `most` entries are selected. */
export interface Stretch {
  readonly start: number;
  readonly length: number;
  readonly most: number;
}

/** The stretch's number. */
export interface Threshold {
  readonly stretch: number;
  readonly threshold: number;
}

export interface StretchSelector<V> {
  readonly capacity: number;
  /** Begins a selection from x, which must not change until it is taken. */
  begin(x: V): void;
  /**
   * Counts the entries of each of these stretches that reach its threshold (≥ 0); counts above
   * `most` need not be distinguished. The last threshold of a stretch decides what is taken.
   */
  count(questions: readonly Threshold[]): Answer<readonly number[]>;
  /** The k-th largest magnitude of each of these stretches, 1 ≤ k ≤ its length. */
  kthMagnitudes(
    questions: readonly { readonly stretch: number; readonly k: number }[],
  ): Answer<readonly number[]>;
  /**
   * Takes the entries of each stretch that reach its threshold, lowest indices first,
   * at most `most`, and sets them to 0. Every stretch must have been counted.
   */
  take(): Entries<V>;
}
