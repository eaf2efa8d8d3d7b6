/**
 * Time in flight: the part of a step in which its bytes move, all that a smaller payload could
 * shorten. Waiting for a rank that still computes, for a core, or for the latency of a link is
 * not in it, and neither are compression and reduction.
 *
 * The clocks of a rank see `send` and `receive`: a socket that does not drain, and the rest of
 * a message after its first byte. A message of a single segment arrives whole, after `wait`
 * alone; where the link's bandwidth is known, its bytes tell how long it was in flight.
 */

/** Means per iteration of one rank; times in milliseconds. */
export interface RankTraffic {
  readonly rank: number;
  /** `send`, `receive` and `activations`. */
  readonly moving: number;
  /** `moving`, and `wait`: what is not hidden behind computing. */
  readonly exposed: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/**
 * Milliseconds per iteration of the rank whose bytes are longest in flight: an upper bound of
 * what compression can save, since ranks exchange side by side.
 * @param perByte milliseconds that a rank's link takes for a byte, if known
 */
export function timeInFlight(ranks: readonly RankTraffic[], perByte?: number): number {
  return ranks.reduce((longest, rank) => Math.max(longest, flightOf(rank, perByte)), 0);
}

function flightOf(rank: RankTraffic, perByte: number | undefined): number {
  const { moving, exposed, bytesSent, bytesReceived } = rank;
  if (perByte === undefined) return moving;
  const carried = (bytes: number): number => bytes * perByte;
  // Both directions at once at best, one after the other at worst.
  const least = carried(Math.max(bytesSent, bytesReceived));
  const most = carried(bytesSent + bytesReceived);
  return Math.min(exposed, Math.max(least, Math.min(moving, most)));
}
