/**
 * The widths of a run's levels. Part 0 has bins over all ranks, the other parts the bins of 64
 * ranks each, so that one rank is read without all others. The first level of either has a bin
 * for some 16 records, each further one a bin for four of the one before, so all of them together
 * have a sixth as many bins as the run has records.
 */

/** Records of a bin of the first level, about. */
const BIN_RECORDS = 16;
const LEVEL_FACTOR = 4;
const RANKS_OF_PART = 64;
/** The part with the bins over all ranks. */
export const ALL_RANKS = 0;
/** Above it lies no run: 4¹² · 16 iterations. */
export const HIGHEST_LEVEL = 12;
/** Stretches of a level that become one of the next. */
export const MERGED = LEVEL_FACTOR;

/** The part that has a rank; of a run of one rank, the part over all of them. */
export const partOf = (rank: number, ranks: number): number =>
  ranks === 1 ? ALL_RANKS : 1 + Math.floor(rank / RANKS_OF_PART);

/** Iterations of a bin. */
export function levelWidth(part: number, level: number, ranks: number): number {
  let width = 1;
  const records = part === ALL_RANKS ? ranks : 1;
  while (width * records < BIN_RECORDS) width *= 2;
  return width * LEVEL_FACTOR ** level;
}

/** The highest level whose bins are not wider; −1: all are. */
export function levelFor(part: number, width: number, ranks: number): number {
  let level = -1;
  while (level < HIGHEST_LEVEL && levelWidth(part, level + 1, ranks) <= width) level++;
  return level;
}
