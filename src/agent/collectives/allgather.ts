/**
 * Allgather of one block per rank, of sizes that all ranks know, each straight to where it
 * belongs: Bruck's rounds for any P (`doubling-blocks.ts`).
 *
 * Cost: ⌈log₂P⌉·α + (P−1)/P·bytes·β of equal blocks; a round that wraps around the end of
 * the ranks sends two pieces where the blocks lie one after the other, and as many as it
 * has blocks where they do not. A block of no bytes sends nothing.
 */
import type { Region, Vector } from '../kernels/arena.ts';
import type { Communicator } from './collective.ts';
import { blockRounds } from './doubling-blocks.ts';
import { part } from './partition.ts';
import { vectorRegion } from './payload-region.ts';

export const allgather = {
  code: 1003,
  /**
   * Block i of `blocks` is rank i's: this rank's is sent, the others are received.
   * Throws an internal error where there are not as many blocks as ranks.
   */
  run: async (communicator: Communicator, blocks: readonly Region[]): Promise<void> => {
    const { rank, size } = communicator;
    if (blocks.length !== size) {
      throw new Error(`internal: ${blocks.length} blocks for ${size} ranks`);
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
  vector: Vector,
): Promise<void> {
  const { size, valueBytes } = communicator;
  const blocks = Array.from({ length: size }, (_, index) =>
    vectorRegion(part(vector, size, index, valueBytes), valueBytes),
  );
  await allgather.run(communicator, blocks);
}

/** Blocks as runs of bytes: what lies one after the other travels as one message. */
export function pieces(blocks: readonly Region[]): readonly Region[] {
  const runs: Region[] = [];
  for (const { offset, bytes } of blocks) {
    const last = runs.at(-1);
    if (last !== undefined && last.offset + last.bytes === offset) {
      runs[runs.length - 1] = { offset: last.offset, bytes: last.bytes + bytes };
    } else runs.push({ offset, bytes });
  }
  return runs.filter(({ bytes }) => bytes > 0);
}
