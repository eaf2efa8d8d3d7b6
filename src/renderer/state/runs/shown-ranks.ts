/** Ranks that a page shows one by one until the user asks for all. */

const FIRST = 8;

/**
 * The first ranks in ascending order; those that must be in view, such as the straggler that
 * a text names, take the places of the last.
 */
export function shownRanks(
  ranks: number,
  limit = FIRST,
  needed: readonly (number | undefined)[] = [],
): readonly number[] {
  const shown = new Set<number>();
  for (const rank of needed) if (rank !== undefined && rank < ranks) shown.add(rank);
  for (let rank = 0; rank < ranks && shown.size < limit; rank++) shown.add(rank);
  return [...shown].toSorted((a, b) => a - b);
}
