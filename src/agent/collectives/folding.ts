/**
 * Numbers of ranks that are not powers of two (METHODS 7): with r = P − 2^⌊log₂P⌋, the
 * first 2r ranks fold in pairs before the rounds and unfold after them.
 */

/** ⌊log₂P⌋. */
export const rounds = (ranks: number): number => 31 - Math.clz32(ranks);

/** ⌈log₂P⌉, the depth of a binomial tree. */
export const treeDepth = (ranks: number): number => 32 - Math.clz32(ranks - 1);

/** r, the number of pairs that fold. */
export const foldedRanks = (ranks: number): number => ranks - 2 ** rounds(ranks);
