/** A payload of sections that the host writes one after the other at their real sizes. */
import type { Kernels } from '../kernels/kernels.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { Section } from './sections.ts';

/** Writes the section of this index, which is not dense, and returns its bytes. */
export type WriteSection = (x: Vector, out: Region, index: number) => number;

/**
 * @param room for the longest payload
 * @returns the written part
 */
export function assembleSections(
  kernels: Kernels,
  sections: readonly Section[],
  { offset }: Vector,
  room: Region,
  write: WriteSection,
): Region {
  let bytes = 0;
  for (const [index, { start, length, dense }] of sections.entries()) {
    const x = { offset: offset + 4 * start, length };
    const out = { offset: room.offset + bytes, bytes: room.bytes - bytes };
    if (dense) {
      kernels.copy({ offset: out.offset, length }, x);
      bytes += 4 * length;
    } else {
      bytes += write(x, out, index);
    }
  }
  return { offset: room.offset, bytes };
}
