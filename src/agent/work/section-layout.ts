/**
 * The bytes of a section of n elements in runs of d. Levels:
 *
 *     scales   ⌈n/d⌉ × f32, finite, ≥ 0
 *     codes    packed: n codes of b bits, padded to whole words of 4 bytes
 *              elias:  a stream of Elias ω codes, padded to whole words of 4 bytes
 *
 * with codes as of `kernels/quantization.ts`. Signs:
 *
 *     means    ⌈n/d⌉ × (f32 mean of the entries ≥ 0, f32 mean of those < 0), finite
 *     signs    n bits, bit i mod 8 (0: the lowest) of byte ⌊i/8⌋, 1 where the element is
 *              < 0; padded to whole words of 4 bytes
 *
 * A section with columns has its elements column by column, and a run for each column. A coding
 * of kind `host` defines its own bytes.
 */
import {
  codeBits,
  eliasCapacity,
  packedBytes,
  runsOf,
} from '../kernels/quantization.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { LevelCoding, Section, SectionCoding, SignCoding } from './sections.ts';

/** Most bytes of a section of n elements that is not dense. */
export function codedCapacity(n: number, coding: SectionCoding): number {
  if (coding.kind === 'host') return coding.capacity(n);
  const codes =
    coding.kind === 'signs' || coding.coding === 'packed'
      ? packedCodeBytes(n, coding)
      : eliasCapacity(n, coding.levels, coding.coding);
  return 4 * numbersOf(n, coding) + codes;
}

export function sectionCapacity(section: Section, coding: SectionCoding): number {
  const { length, dense } = section;
  return dense ? 4 * length : codedCapacity(length, codingOf(section, coding));
}

/** The coding with the section's own run length: one column, if the section has columns. */
export function codingOf<C extends SectionCoding>(
  { length, columns }: Pick<Section, 'length' | 'columns'>,
  coding: C,
): C {
  if (columns === undefined) return coding;
  if (coding.kind !== 'signs') {
    throw new Error(`internal: columns of ${coding.kind}`);
  }
  // A run length of 0 is not allowed, also where the matrix has no elements.
  return { ...coding, runLength: Math.max(1, length / columns) };
}

/** Most bytes of a payload. */
export function payloadCapacity(
  sections: readonly Section[],
  coding: SectionCoding,
): number {
  return sections.reduce((sum, section) => sum + sectionCapacity(section, coding), 0);
}

/** The number of f32 values of a section: of scales, or of means. */
export function numbersOf(
  n: number,
  { kind, runLength }: LevelCoding | SignCoding,
): number {
  return (kind === 'levels' ? 1 : 2) * runsOf(n, runLength);
}

/** Bytes of packed codes, or of signs. */
export function packedCodeBytes(n: number, coding: LevelCoding | SignCoding): number {
  return packedBytes(n, coding.kind === 'levels' ? codeBits(coding.levels) : 1);
}

/**
 * The f32 numbers of a section, and its codes, with a negative size if the data is too short.
 */
export function partsOf(
  { offset, bytes }: Region,
  n: number,
  coding: LevelCoding | SignCoding,
): { readonly numbers: Vector; readonly codes: Region } {
  const length = numbersOf(n, coding);
  return {
    numbers: { offset, length },
    codes: { offset: offset + 4 * length, bytes: bytes - 4 * length },
  };
}
