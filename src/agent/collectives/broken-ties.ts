/**
 * Breaks ties at a global threshold by index, so that P ranks keep exactly k entries of
 * their ranges in total. Entries above the threshold stay, and of those equal to it the
 * ones with the lowest indices. Ranges ascend by rank, so the counts tell each rank how
 * many of its ties to keep.
 *
 * Cost: an allgather of 4 bytes, ⌈log₂P⌉·α, and a pass over the entries.
 */
import type { SparseStream } from '../memory/entries.ts';
import { closeStream } from '../kernels/sparsification.ts';
import { allgather } from './allgather.ts';
import type { Communicator } from './collective.ts';
import { invalidStream } from './sparse-stream.ts';

const TIES_BYTES = 4;

/** The entries that this rank keeps, and how many each rank keeps. */
export interface KeptEntries {
  readonly stream: SparseStream;
  readonly counts: readonly number[];
}

/**
 * @param kept entries that reach the threshold; fewer than k of them exceed it
 * @throws GradwireError `PAYLOAD_INVALID`
 */
export async function breakTies(
  communicator: Communicator,
  { stream, counts }: KeptEntries,
  threshold: number,
  k: number,
): Promise<KeptEntries> {
  const { arena, rank, size } = communicator;
  const into = communicator.scratch('ties', TIES_BYTES * size);
  const ties = arena.u32(into.offset, size);
  ties[rank] = communicator.reduce(() => {
    const values = arena.f32({
      offset: stream.offset + 4 * stream.count,
      length: stream.count,
    });
    return values.reduce((sum, x) => sum + Number(Math.abs(x) === threshold), 0);
  });
  await allgather.run(communicator, into, new Array<number>(size).fill(TIES_BYTES));
  const bad = counts.findIndex((count, peer) => ties[peer]! > count);
  if (bad >= 0) {
    const says = `a count of ${ties[bad]} ties among only ${counts[bad]} entries`;
    throw invalidStream(bad, says);
  }
  let left = k - counts.reduce((sum, count, peer) => sum + count - ties[peer]!, 0);
  const allowed = counts.map((_, peer) => {
    const own = Math.max(0, Math.min(ties[peer]!, left));
    left -= own;
    return own;
  });
  return {
    stream: communicator.reduce(() =>
      withTies(communicator, stream, threshold, allowed[rank]!),
    ),
    counts: counts.map((count, peer) => count - ties[peer]! + allowed[peer]!),
  };
}

/** The stream, in place, with only the first `allowed` of its ties. */
function withTies(
  { arena }: Communicator,
  { offset, count }: SparseStream,
  threshold: number,
  allowed: number,
): SparseStream {
  const indices = arena.u32(offset, count);
  const values = arena.f32({ offset: offset + 4 * count, length: count });
  let ties = allowed;
  let kept = 0;
  for (let entry = 0; entry < count; entry++) {
    if (Math.abs(values[entry]!) === threshold && ties-- <= 0) continue;
    indices[kept] = indices[entry]!;
    values[kept++] = values[entry]!;
  }
  return closeStream(arena, { offset, capacity: count }, kept);
}
