import { describe, expect, it } from 'vitest';
import { StoredRun } from '../../../src/renderer/state/history/stored-run.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { AppApi } from '../../../src/shared/rpc/rpc.ts';
import { iterationRecord } from './records.ts';

const RANKS = 3;

/** A store of a run whose ranks report these numbers of iterations, rank by rank, then grow with each answer. */
function growing(reported: readonly number[], most: number) {
  const counts = [...reported];
  const entries: JournalEntry[] = [];
  let sequence = 0;
  const report = (rank: number, iteration: number): void => {
    const record = iterationRecord({ rank, iteration });
    entries.push({ sequence: ++sequence, record });
  };
  for (const [rank, count] of counts.entries()) {
    for (let iteration = 0; iteration < count; iteration++) report(rank, iteration);
  }
  let answers = 0;
  const placeOf = ({ record }: JournalEntry): number =>
    record.type === 'iteration' ? record.iteration * RANKS + record.rank : -1;
  const api: Pick<AppApi, 'iterations'> = {
    iterations: async (_run, { from, fromRank = 0, to }) => {
      await Promise.resolve();
      if (++answers > 1000) throw new Error('reading does not end');
      // More than an answer has.
      for (let each = 0; each <= most; each++) {
        for (const rank of counts.keys()) report(rank, counts[rank]!++);
      }
      const rest = entries
        .filter((entry) => placeOf(entry) >= from * RANKS + fromRank)
        .filter((entry) => placeOf(entry) < to * RANKS)
        .toSorted((a, b) => placeOf(a) - placeOf(b));
      const after = rest[most];
      const place = after && placeOf(after);
      return {
        entries: rest.slice(0, most),
        next:
          place === undefined
            ? undefined
            : { from: Math.floor(place / RANKS), fromRank: place % RANKS },
      };
    },
  };
  const lastSequence = sequence;
  return { lastSequence, run: new StoredRun(api as AppApi, 'run') };
}

describe('records of a run that grows faster than they are read', () => {
  it.each([
    { title: 'all ranks at the same iteration', reported: [40, 40, 40], most: 16 },
    { title: 'a rank far ahead', reported: [10, 90, 11], most: 16 },
    { title: 'a rank far behind', reported: [80, 80, 0], most: 16 },
    { title: 'answers that end within an iteration', reported: [40, 47, 40], most: 4 },
    { title: 'answers of less than an iteration', reported: [9, 7, 8], most: 2 },
    { title: 'none yet', reported: [0, 0, 0], most: 16 },
  ])('end with those asked for: $title', async ({ reported, most }) => {
    const { lastSequence, run } = growing(reported, most);
    const read = await run.iterations(0, lastSequence);
    const asked = read.filter(({ sequence }) => sequence <= lastSequence);
    expect(asked).toHaveLength(lastSequence);
    expect(new Set(asked.map(({ sequence }) => sequence)).size).toBe(lastSequence);
  });
});
