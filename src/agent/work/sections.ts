/**
 * Payloads of sections: a part of `Work`, with its promises. Each section represents a
 * stretch of a vector; sections are consecutive, without gaps, in the order of the stretches.
 * A section is whole words of 4 bytes: the f32 elements if dense, otherwise the output of its
 * coding. Nothing else is in the payload. `section-layout.ts` has the bytes of each coding.
 */
import type { EliasForm, Quantizer, ScaleKind } from '../kernels/quantization.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { Answer } from './steps.ts';

/** A stretch of the vector. */
export interface Section {
  readonly start: number;
  readonly length: number;
  /** Whether the elements are sent uncompressed. */
  readonly dense: boolean;
  /**
   * The number of columns, if the section is a row-major matrix to be coded column by column.
   * Each column is then one run, and the coding's own run length does not apply. Only `SignCoding`
   * supports it.
   */
  readonly columns?: number | undefined;
}

/** The coding of sections that are not dense. */
export type SectionCoding = LevelCoding | SignCoding | HostCoding;

/** Stochastically rounded levels of a scale for each run; x is scratch. */
export interface LevelCoding extends Quantizer {
  readonly kind: 'levels';
  /** A kind of scale, or the largest |v| after clipping at this many deviations. */
  readonly scale: ScaleKind | { readonly clip: number };
  readonly coding: 'packed' | EliasForm;
}

/** Signs and two means for each run; x ← x − the values that they represent. */
export interface SignCoding {
  readonly kind: 'signs';
  /** Elements of a run, where a section has no columns. */
  readonly runLength: number;
}

/** A coding without kernels, written by the host for any backend. */
export interface HostCoding {
  readonly kind: 'host';
  /** Form of its sections once they are decoded. */
  readonly gives: 'entries' | 'values';
  /** Most bytes of a section of n elements. */
  capacity(n: number): number;
  /**
   * Writes a section, and returns its bytes; x must not be written to.
   * @param noise the section's own random stream
   */
  encode(x: Vector, out: Region, noise: RandomStream): number;
}

/** A received and checked section: the positions of its parts in the arena. */
export type ReceivedSection =
  | { readonly kind: 'dense'; readonly values: Vector }
  | CodedSection
  /** Non-zero elements, for a host that codes them instead. */
  | { readonly kind: 'entries'; readonly stream: SparseStream };

/** Scales and packed codes, even if Elias codes were received; or means and signs. */
export interface CodedSection {
  readonly kind: 'coded';
  readonly numbers: Vector;
  readonly codes: Region;
  /** The section's. */
  readonly columns?: number | undefined;
}

export interface SectionCoder<V> {
  /**
   * The payload of x, in the arena until the next call. x may be overwritten, unless its
   * coding defines the result; dense sections of it do not change.
   * @param noise the random stream of section 0; section i uses its purpose plus i
   */
  encode(x: V, noise: RandomStream): Answer<Region>;
  /** out ← out + values of the section, or its values alone. */
  decode(section: ReceivedSection, out: V, add: boolean): void;
}

/** Elements of the longest section that is not dense. */
export function longestCoded(sections: readonly Section[]): number {
  return sections.reduce(
    (longest, { length, dense }) => (dense ? longest : Math.max(longest, length)),
    0,
  );
}

/** Whether elements are coded in a different order than they are stored in. */
export function inColumnOrder(columns: number | undefined): columns is number {
  return columns !== undefined && columns > 1;
}

/** Elements of the longest section that is coded in the order of its columns. */
export function longestOfColumns(sections: readonly Section[]): number {
  return longestCoded(sections.filter(({ columns }) => inColumnOrder(columns)));
}

/** Random numbers of a section. */
export function noiseOf(noise: RandomStream, section: number): RandomStream {
  const { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 } = noise;
  return { seed, rank, bucket, iteration, purpose: purpose + section };
}
