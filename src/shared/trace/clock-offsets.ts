/**
 * Differences between the clocks of ranks, from the messages between them. No message arrives
 * before it is sent, so each from rank a to rank b bounds the difference of their clocks:
 *
 *     clock_b − clock_a ≤ received_b − sent_a
 *
 * Messages in both directions bound it from both sides, and so do those by way of other ranks:
 * the tightest bounds are shortest paths, by Floyd and Warshall. Their middle satisfies every
 * bound, as the set of solutions is convex, so with these offsets no arrow goes back in time.
 * Half the distance of the bounds is the uncertainty. Clocks are taken to run equally fast, which
 * within a second they do to some microseconds.
 *
 * Ranks that are known to have one clock need no bounds. Between clocks of machines, which are set by the network,
 * the difference within the bounds that is nearest to 0 is taken: where each waits for a rank that is
 * always late, the bounds are as far apart as it is late, and their middle would hide it.
 *
 * Cost: P³ for P ranks. Sources: F. Cristian, "Probabilistic clock synchronization" (1989), for
 * the bounds of a pair; difference constraints as in Cormen et al., "Introduction to Algorithms".
 */
export interface TimedMessage {
  readonly from: number;
  readonly to: number;
  /** Nanoseconds by the clock of `from`. */
  readonly sent: number;
  /** Nanoseconds by the clock of `to`. */
  readonly received: number;
}

export interface ClockOffset {
  /** Nanoseconds by which the rank's clock is ahead of that of the first rank. */
  readonly offset: number;
  /** The true offset is at most this number of nanoseconds away; Infinity: no messages both ways. */
  readonly uncertainty: number;
}

/**
 * @param clocks names of machines' clocks by rank, where ranks tell time by these
 * @returns the offset of each rank, by rank; the first rank's is 0
 */
export function clockOffsets(
  ranks: readonly number[],
  messages: readonly TimedMessage[],
  clocks: ReadonlyMap<number, string> = new Map(),
): ReadonlyMap<number, ClockOffset> {
  const place = new Map(ranks.map((rank, index) => [rank, index]));
  const clockOf = ranks.map((rank) => clocks.get(rank));
  const isOne = (a: number, b: number): boolean =>
    a === b || (clockOf[a] !== undefined && clockOf[a] === clockOf[b]);
  const bounds = ranks.map((_, a) =>
    ranks.map((__, b) => (isOne(a, b) ? 0 : Infinity)),
  );
  for (const { from, received, sent, to } of messages) {
    const a = place.get(from);
    const b = place.get(to);
    if (a === undefined || b === undefined || isOne(a, b)) continue;
    bounds[a]![b] = Math.min(bounds[a]![b]!, received - sent);
  }
  shortenPaths(bounds);
  return new Map(
    ranks.map((rank, index) => {
      const upper = bounds[0]![index]!;
      const lower = -bounds[index]![0]!;
      const isNear = clockOf[0] !== undefined && clockOf[index] !== undefined;
      return [rank, isNear ? nearest(lower, upper) : middle(lower, upper)];
    }),
  );
}

/** A bound from one side only still says which offsets are possible: the nearest to 0. */
function middle(lower: number, upper: number): ClockOffset {
  if (Number.isFinite(lower) && Number.isFinite(upper)) {
    const offset = Math.round((lower + upper) / 2);
    return { offset, uncertainty: Math.max(0, (upper - lower) / 2) };
  }
  return nearest(lower, upper);
}

function nearest(lower: number, upper: number): ClockOffset {
  const offset = Math.max(lower, Math.min(upper, 0));
  return { offset, uncertainty: Math.max(0, upper - offset, offset - lower) };
}

/** Replaces each bound by the tightest that follows from several. */
function shortenPaths(bounds: readonly number[][]): void {
  for (const [k, through] of bounds.entries()) {
    for (const row of bounds) {
      const first = row[k]!;
      if (first === Infinity) continue;
      for (let b = 0; b < row.length; b++) {
        const path = first + through[b]!;
        if (path < row[b]!) row[b] = path;
      }
    }
  }
}
