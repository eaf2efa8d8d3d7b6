/** The choice of the rank, of two, that dials the other. */

/**
 * The higher rank dials, unless the lower one is not at its machine's known address (it may be
 * behind a router) and the higher one is: then the lower one dials.
 * @param addresses of all ranks, by rank
 */
export function dialsPeer(
  addresses: readonly { readonly hosts?: readonly string[] | undefined }[],
  caller: number,
  peer: number,
): boolean {
  const isHidden = (rank: number): boolean => addresses[rank]!.hosts !== undefined;
  const [lower, upper] = [Math.min(caller, peer), Math.max(caller, peer)];
  return caller === (isHidden(lower) && !isHidden(upper) ? lower : upper);
}
