/**
 * Payloads of sections: a part of `Work`, with its promises. Each section stands for a
 * stretch of a vector; the sections follow each other without gaps, in the order of the
 * stretches. A section is whole words of 4 bytes. A dense one is the f32 elements, the others
 * are what their coding makes of them. Nothing else is in the payload. `section-layout.ts`
 * has the bytes of each coding.
 */
import type { EliasForm, Quantizer, ScaleKind } from '../kernels/quantization.ts';
import type { StreamName } from '../kernels/random.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { Answer } from './steps.ts';

/** A stretch of the vector. */
export interface Section {
  readonly start: number;
  readonly length: number;
  /** Whether the elements themselves travel. */
  readonly dense: boolean;
  /**
   * Columns of the row-major matrix that it is, where it is coded column by column: its
   * elements in the order of columns, each column a run, whatever the coding says of runs.
   * Of signs alone.
   */
  readonly columns?: number | undefined;
}

/** How the elements of sections that are not dense become bytes. */
export type SectionCoding = LevelCoding | SignCoding | HostCoding;

/** Stochastically rounded levels of a scale for each run; x is scratch. */
export interface LevelCoding extends Quantizer {
  readonly kind: 'levels';
  /** A kind of scale, or the largest |v| after clipping at this many deviations. */
  readonly scale: ScaleKind | { readonly clip: number };
  readonly coding: 'packed' | EliasForm;
}

/** Signs and two means for each run; x ← x − what they stand for. */
export interface SignCoding {
  readonly kind: 'signs';
  /** Elements of a run, where a section has no columns. */
  readonly bucket: number;
}

/** A coding that has no kernels: written by the host, wherever the vector is. */
export interface HostCoding {
  readonly kind: 'host';
  /** Bytes that a section of n elements never exceeds. */
  capacity(n: number): number;
  /** Writes a section, and returns its bytes; x must not be written to. */
  encode(x: Vector, out: Region): number;
}

/** A section that has come, checked: where its parts lie in the arena. */
export type ReceivedSection =
  | { readonly kind: 'dense'; readonly values: Vector }
  | CodedSection
  /** Of a host's coding, in its stead: the elements that are not 0. */
  | { readonly kind: 'entries'; readonly stream: SparseStream };

/** Scales and packed codes, even where Elias codes came; or means and signs. */
export interface CodedSection {
  readonly kind: 'coded';
  readonly numbers: Vector;
  readonly codes: Region;
  /** The section's. */
  readonly columns?: number | undefined;
}

export interface SectionCoder<V> {
  /**
   * The payload of x, in the arena until the next call. x may be left as anything, unless its
   * coding says what is left; dense sections of it are left as they are.
   * @param noise names the random numbers of section 0; those of section i have its purpose
   * plus i
   */
  encode(x: V, noise: StreamName): Answer<Region>;
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

/** Whether elements are coded in another order than they lie in. */
export function inColumnOrder(columns: number | undefined): columns is number {
  return columns !== undefined && columns > 1;
}

/** Elements of the longest section that is coded in the order of its columns. */
export function longestOfColumns(sections: readonly Section[]): number {
  return longestCoded(sections.filter(({ columns }) => inColumnOrder(columns)));
}

/** Random numbers of a section. */
export function noiseOf(noise: StreamName, section: number): StreamName {
  const { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 } = noise;
  return { seed, rank, bucket, iteration, purpose: purpose + section };
}
