/**
 * Allgather of one block per rank, with sizes known to all ranks; each block is received
 * directly in its place. Bruck's rounds for any P (`doubling-blocks.ts`).
 *
 * Cost: ⌈log₂P⌉·α + (P−1)/P·bytes·β of equal blocks; a round that wraps around the end of
 * the ranks sends two pieces. A block of no bytes sends nothing.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';
import { blockRounds } from './doubling-blocks.ts';
import { partRange } from './partition.ts';

export const allgather = {
  code: 1003,
  /**
   * The blocks are in `into` one after the other, `sizes` bytes each, by rank: this
   * rank's is sent, the others are received. Adjacent blocks are sent as one message, so
   * all ranks must have the same layout. Throws an internal error unless the sizes are
   * those of P blocks in `into`.
   */
  run: async (
    communicator: Communicator,
    into: Region,
    sizes: readonly number[],
  ): Promise<void> => {
    const { rank, size } = communicator;
    const blocks: Region[] = [];
    let { offset } = into;
    for (const bytes of sizes) {
      blocks.push({ offset, bytes });
      offset += bytes;
    }
    if (blocks.length !== size || offset > into.offset + into.bytes) {
      throw new Error(
        `internal: ${blocks.length} blocks of ${offset - into.offset} bytes for ` +
          `${size} ranks in ${into.bytes}`,
      );
    }
    const sends: Promise<void>[] = [];
    for (const { to, from, sent, received } of blockRounds(rank, size)) {
      for (const piece of pieces(sent.map((index) => blocks[index]!))) {
        sends.push(communicator.send(to, piece));
      }
      await Promise.all(
        pieces(received.map((index) => blocks[index]!)).map((piece) =>
          communicator.receive(from, piece),
        ),
      );
    }
    await Promise.all(sends);
  },
} as const;

/** Every rank's part of a vector to every rank. */
export async function gatherParts(
  communicator: Communicator,
  { offset, length }: Vector,
): Promise<void> {
  const { size, valueBytes } = communicator;
  const sizes = Array.from(
    { length: size },
    (_, index) => valueBytes * partRange(length, size, index).length,
  );
  await allgather.run(communicator, { offset, bytes: valueBytes * length }, sizes);
}

/** Consecutive blocks, possibly wrapping around, as one range of bytes or two. */
function pieces(blocks: readonly Region[]): readonly Region[] {
  const runs: Region[] = [];
  for (const { offset, bytes } of blocks) {
    const last = runs.at(-1);
    if (last !== undefined && last.offset + last.bytes === offset) {
      runs[runs.length - 1] = { offset: last.offset, bytes: last.bytes + bytes };
    } else runs.push({ offset, bytes });
  }
  return runs.filter(({ bytes }) => bytes > 0);
}
