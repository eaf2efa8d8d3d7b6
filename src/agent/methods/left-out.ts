/**
 * The entries of a rank's payload that a partial sum (`Combined.partial`) left out. The
 * rank keeps them, so nothing is lost. O(k), in place.
 */
import type { Arena } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import { closeStream } from '../kernels/sparsification.ts';
import type { Combined } from '../memory/payload.ts';

/** The entries of `sent` at indices that are not in the sum; overwrites `sent`. */
export function leftOut(
  arena: Arena,
  sent: SparseStream,
  combined: Combined,
): SparseStream {
  if (combined.form !== 'sparse' || combined.partial !== true) {
    return { offset: sent.offset, count: 0 };
  }
  const { offset, count } = sent;
  const indices = arena.u32(offset, count);
  const values = arena.u32(offset + 4 * count, count);
  const kept = arena.u32(combined.data.offset, combined.count);
  let place = 0;
  let left = 0;
  for (let entry = 0; entry < count; entry++) {
    const index = indices[entry]!;
    while (place < kept.length && kept[place]! < index) place++;
    if (place < kept.length && kept[place] === index) continue;
    indices[left] = index;
    values[left++] = values[entry]!;
  }
  return closeStream(arena, { offset, capacity: count }, left);
}
