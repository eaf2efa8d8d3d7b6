/** Ranks that a page shows one by one until the user asks for all. */

/** Ranks up to which each is shown. */
export const FEW_RANKS = 8;

/**
 * The first ranks in ascending order; those that must be in view, such as the straggler that
 * a text names, take the places of the last.
 * @param ranks all that there are, ascending
 */
export function shownRanks(
  ranks: readonly number[],
  limit = FEW_RANKS,
  needed: readonly (number | undefined)[] = [],
): readonly number[] {
  const shown = new Set<number>();
  for (const rank of needed)
    if (rank !== undefined && ranks.includes(rank)) shown.add(rank);
  for (const rank of ranks) {
    if (shown.size >= limit) break;
    shown.add(rank);
  }
  return [...shown].toSorted((a, b) => a - b);
}
