/** The assignment of ranks to nodes: contiguous shares, so that neighbours are close. */

/** Shares as even as possible, larger ones first; a node without ranks is left out. */
export function assignRanks<N>(
  ranks: number,
  nodes: readonly N[],
): readonly (readonly [N, readonly number[]])[] {
  let next = 0;
  return nodes
    .map((node, index): readonly [N, readonly number[]] => {
      const share =
        Math.floor(ranks / nodes.length) + (index < ranks % nodes.length ? 1 : 0);
      const first = next;
      next += share;
      return [node, Array.from({ length: share }, (_, offset) => first + offset)];
    })
    .filter(([, share]) => share.length > 0);
}

/** The inverse: the number of each rank's node, by rank. */
export function placesOf(
  shares: readonly (readonly [unknown, readonly number[]])[],
): readonly number[] {
  const places: number[] = [];
  for (const [node, [, ranks]] of shares.entries()) {
    for (const rank of ranks) places[rank] = node;
  }
  return places;
}
