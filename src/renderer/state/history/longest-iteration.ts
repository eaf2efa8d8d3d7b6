/** The longest iteration of a part of a run: the one in which a rank's step took longest. */
import type { BinsQuery } from '../../../shared/rpc/run-pieces.ts';
import { extremesOf, type Bin } from './bin.ts';
import type { RunHistory } from './run-history.ts';
import { FULL_RECORDS, type StoredRun } from './stored-run.ts';

/**
 * Finds it among the iterations that the page holds one by one, or reads them.
 * @returns undefined if there are more than a page reads one by one, or none
 */
export async function longestIteration(
  stored: Pick<StoredRun, 'window'>,
  history: Pick<RunHistory, 'completeLength' | 'heldBins' | 'ranks'>,
  { from, rank, to }: Omit<BinsQuery, 'width'>,
): Promise<number | undefined> {
  const held = history.heldBins({ from, to, rank, limit: to - from + 1 });
  if (held[0]?.from === from) return longestOf(held);
  if ((to - from) * history.ranks > FULL_RECORDS) return undefined;
  const query = { from, to, rank, width: 1 };
  const window = await stored.window(query, history.ranks, history.completeLength);
  return longestOf([...window.bins(from, to)]);
}

function longestOf(bins: readonly Bin[]): number | undefined {
  const wall = (bin: Bin): number => extremesOf(bin, 'wall')?.[1] ?? -Infinity;
  return bins.reduce<Bin | undefined>(
    (longest, bin) =>
      longest === undefined || wall(bin) > wall(longest) ? bin : longest,
    undefined,
  )?.from;
}
