/**
 * Counts pairs of a positive and a negative sample among those of all ranks, by their scores (AUC).
 * The scores of one class stay where they are. Those of the other travel around a ring of all ranks,
 * in parts of 256 KB, and each rank counts their pairs with its own.
 *
 * Cost: for the n travelling scores of the rank that has most of them, (P−1)·⌈n ⁄ 65,536⌉ rounds of
 * a message of at most 256 KB each; a rank sends 4 bytes for each score of the others, and needs
 * 512 KB whatever their number. The count is exact up to 2⁵³ pairs, so it is the same however
 * samples are divided among ranks.
 */
import { pairsBelow } from '../../shared/numbers/ordered-pairs.ts';
import { vectorOf, type Region, type Vector } from '../memory/arena.ts';
import type { Communicator } from './collective.ts';

/** Scores in a message. */
export const PART = 65_536;

/** A rank's scores, each ascending, in the arena. */
export interface RankScores {
  readonly staying: Vector;
  readonly travelling: Vector;
}

export const rankPairs = {
  /** Operation code in the headers; those of collectives are below 1000. */
  code: 1006,
  /**
   * Counts this rank's staying scores that are below travelling ones, over all travelling ones of
   * all ranks; equal ones count half.
   * @param longest the largest number of travelling scores of a rank
   */
  run: async (
    communicator: Communicator,
    { staying, travelling }: RankScores,
    longest: number,
  ): Promise<number> => {
    const { arena, rank, size } = communicator;
    const own = arena.f32(staying);
    const buffers = [0, 1].map((which) =>
      communicator.scratch(`rank pairs ${which}`, 4 * Math.min(PART, longest)),
    );
    const [next, before] = [(rank + 1) % size, (rank + size - 1) % size];
    const scoresOf = (region: Region) => arena.f32(vectorOf(region));
    let pairs = 0;
    for (let first = 0; first < longest; first += PART) {
      const left = Math.max(0, Math.min(PART, travelling.length - first));
      let part: Region = { offset: travelling.offset + 4 * first, bytes: 4 * left };
      pairs += pairsBelow(own, scoresOf(part));
      for (let hop = 1; hop < size; hop++) {
        const into = buffers[hop % 2]!;
        const sent = communicator.send(next, part);
        const maximum = 4 * Math.min(PART, longest);
        const received = await communicator.receiveSized(before, maximum, () => into);
        await sent;
        part = received;
        pairs += pairsBelow(own, scoresOf(part));
      }
    }
    return pairs;
  },
} as const;
