/**
 * Operations of a compression method on vectors at one site: in the arena with the CPU's kernels,
 * or on a GPU. A method is written once against this interface. On a CPU everything is done when a
 * call returns. On a GPU it is enqueued, in the order of the calls; results for the host are an
 * `Answer`, whose read begins when it is requested, so that work enqueued later overlaps with it.
 *
 * Both produce the same bytes. Lengths are in elements. All memory that a work allocates
 * ends with it: a method takes what it needs when it is created, and frees nothing.
 *
 * `V` is a vector: `Vector` in the arena, `GpuVector` on a GPU.
 */
import type { FixedSums } from '../kernels/fixed-point.ts';
import type { Kernels, TwoMeans } from '../kernels/kernels.ts';
import type { Quantizer } from '../kernels/quantization.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { Combined } from '../memory/payload.ts';
import type { HalfType } from '../memory/value-type.ts';
import type { FactorRoom, Factors } from './factors.ts';
import type { HalfCoder } from './halves.ts';
import type { EntryCoder } from './quantized-entries.ts';
import type { Section, SectionCoder, SectionCoding } from './sections.ts';
import type { EntryRoom, Selector, Stretch, StretchSelector } from './selection.ts';
import type { Answer } from './steps.ts';

export interface Work<V> extends Disposable {
  /** The arena with the payloads, for every backend. */
  readonly arena: Arena;
  /** The CPU's kernels, for payloads. */
  readonly kernels: Kernels;

  /** Memory in the arena. */
  region(bytes: number): Region;
  /** A vector of zeros. */
  vector(length: number): V;
  /** A slice of `length` elements of x from `start` on, which shares its memory. */
  slice(x: V, start: number, length: number): V;

  /** x ← 0 */
  clear(x: V): void;
  /** out ← out + x */
  add(out: V, x: V): void;
  /**
   * out ← out + x. Throws if that pass shows that x is not finite; a backend that
   * cannot tell leaves the check to the caller.
   * @throws NotFiniteInput
   */
  addFinite(out: V, x: V): void;
  /** x ← x · factor */
  scale(x: V, factor: number): void;
  /** out ← outFactor · out + xFactor · x, rounded to f32 after each operation. */
  blend(out: V, outFactor: number, x: V, xFactor: number): void;
  /** x ← x + plus where x ≥ 0, x − minus where x < 0, by the signs before the call. */
  shiftBySign(x: V, plus: number, minus: number): void;
  /** out ← out + factor · value at every index of entries in the arena. */
  scatterAdd(out: V, stream: SparseStream, factor: number): void;
  /**
   * out ← combined / world, of dense and sparse payloads, in any form of the collective's
   * sum. One rounding for the division, after the sum, so that the form does not change the
   * bits. `out` may be the memory of a dense `combined`, but then all of it.
   * @returns the number of entries of the sum, if known
   * @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE`
   */
  average(combined: Combined, out: V, world: number): { readonly nnzReduced?: number };

  /** Sums in fixed point of each vector, in one round trip to a device. */
  fixedSums(vectors: readonly V[]): Answer<readonly FixedSums[]>;
  /** The two means of each vector, with the CPU's bits, in one round trip. */
  twoMeans(vectors: readonly V[]): Answer<readonly TwoMeans[]>;

  /** A copy of x's values, for a saved state. */
  values(x: V): Answer<Float32Array>;
  /** x ← values */
  write(x: V, values: Float32Array): void;
  /** Allocates a mirror for vectors of up to `length` elements whose values the host needs. */
  mirror(length: number): Mirror<V>;

  /**
   * Payloads of vectors of `length` elements in 16 bits.
   * @throws BeyondDevice
   */
  halves(length: number, type: HalfType): HalfCoder<V>;

  /** Room for up to `capacity` entries whose indices the host makes. */
  entries(capacity: number): EntryRoom<V>;
  /** Selections of up to `capacity` entries from vectors of up to `length` elements. */
  selector(length: number, capacity: number): Selector<V>;
  /** Selections from stretches of one vector of `length` elements, each by its own threshold. */
  stretchSelector(length: number, stretches: readonly Stretch[]): StretchSelector<V>;
  /** Thin factors of matrices, all zeros. */
  factors(room: FactorRoom): Factors<V>;

  /**
   * Payloads of sections, which together are a vector; those that are not dense are coded.
   * @throws BeyondDevice
   */
  sections(sections: readonly Section[], coding: SectionCoding): SectionCoder<V>;
  /**
   * Payloads of up to `capacity` entries whose values are quantised.
   * @throws BeyondDevice
   */
  entryCoder(capacity: number, quantizer: Quantizer): EntryCoder<V>;
}

/** The values of a vector, in the arena. */
export interface Mirror<V> {
  /**
   * The values of x in the arena, read-only: x itself if it is there, otherwise a copy, valid
   * until the next call.
   */
  of(x: V): Answer<Vector>;
}
