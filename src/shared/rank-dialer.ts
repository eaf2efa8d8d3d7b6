/** Who of two ranks calls the other. */

/**
 * Of two ranks the upper one dials; but where the lower one is not at the address by which
 * its machine is known, as behind a router, and the upper one is, the lower one does.
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
