/** Columns of iterations for records that are each of an interval of iterations. */

/** Iterations with from ≤ i < to. */
export interface IterationRange {
  readonly from: number;
  readonly to: number;
}

/** Number of iterations that two ranges share. */
export const overlap = (a: IterationRange, b: IterationRange): number =>
  Math.max(0, Math.min(a.to, b.to) - Math.max(a.from, b.from));

/**
 * Columns that begin and end where intervals do, as far as there are few enough: what was summed
 * together is not divided.
 */
export function columnsOf(
  { columns: most, from, to }: IterationRange & { readonly columns: number },
  intervals: readonly IterationRange[],
): readonly IterationRange[] {
  const places = new Set(
    intervals
      .filter((interval) => overlap(interval, { from, to }) > 0)
      .flatMap((interval) => [
        Math.max(from, interval.from),
        Math.min(to, interval.to),
      ]),
  );
  const edges = [...places].toSorted((a, b) => a - b);
  const last = edges.at(-1);
  if (most === 0 || last === undefined) return [];
  const least = edges.length - 1 <= most ? 0 : (last - edges[0]!) / most;
  const columns: IterationRange[] = [];
  let begin = edges[0]!;
  for (const edge of edges.slice(1)) {
    if (edge - begin < least && edge !== last) continue;
    columns.push({ from: begin, to: edge });
    begin = edge;
  }
  return columns;
}
