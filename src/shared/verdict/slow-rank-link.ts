/** The rank whose link is much slower than the others', from its own bytes and times. */
import { median } from '../numbers/quantile.ts';
import type { RankTraffic } from './bytes-in-flight.ts';

/** A link is named if a byte takes this much longer than on the median of the others. */
const MUCH = 2;
/** Ranks needed: two have the same link. */
const FEWEST = 3;

export interface SlowRankLink {
  readonly rank: number;
  /** Time for a byte divided by the median of the others'. */
  readonly factor: number;
}

/** @param traffic by rank; of ranks that sent nothing nothing is known */
export function slowRankLink(
  traffic: readonly RankTraffic[],
): SlowRankLink | undefined {
  const speeds = traffic.flatMap(({ bytesReceived, bytesSent, exposed, rank }) => {
    const bytes = Math.max(bytesSent, bytesReceived);
    return bytes > 0 ? [{ rank, perByte: exposed / bytes }] : [];
  });
  if (speeds.length < FEWEST) return undefined;
  const slowest = speeds.reduce((a, b) => (b.perByte > a.perByte ? b : a));
  const others = median(
    speeds.filter(({ rank }) => rank !== slowest.rank).map(({ perByte }) => perByte),
  )!;
  const factor = slowest.perByte / others;
  return factor >= MUCH ? { rank: slowest.rank, factor } : undefined;
}
