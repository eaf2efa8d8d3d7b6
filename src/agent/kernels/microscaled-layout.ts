/**
 * Layout of n elements as floats of 8 bits: ⌈n/32⌉ scales of a byte, then n codes of a byte, each
 * filled with 0 to whole words of 4 bytes.
 */
import type { Arena, Region } from '../memory/arena.ts';
import { blocksOf } from './microscaling.ts';

const wholeWords = (bytes: number): number => 4 * Math.ceil(bytes / 4);

/** Bytes of n elements: 4·⌈⌈n/32⌉/4⌉ + 4·⌈n/4⌉. */
export const microscaledBytes = (n: number): number =>
  wholeWords(blocksOf(n)) + wholeWords(n);

/** The scales and codes of n elements, without what fills their last words. */
export function microscaledParts(
  offset: number,
  n: number,
): { readonly scales: Region; readonly codes: Region } {
  const blocks = blocksOf(n);
  return {
    scales: { offset, bytes: blocks },
    codes: { offset: offset + wholeWords(blocks), bytes: n },
  };
}

/** Writes the zeros that fill the last words of scales or codes. */
export function fillLastWord(arena: Arena, { bytes, offset }: Region): void {
  arena.u8(offset + bytes, wholeWords(bytes) - bytes).fill(0);
}
