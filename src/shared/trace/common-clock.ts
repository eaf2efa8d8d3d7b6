/**
 * Traces of several ranks on one clock, that of the first rank as far as it is known. Times are
 * nanoseconds since the first moment of any of them: viewers drop what is before 0.
 */
import type { TraceRecord } from '../records/trace.ts';
import { clockOffsets, type ClockOffset } from './clock-offsets.ts';
import { arrowsOf, baseOf, originIn, type Arrow } from './message-arrows.ts';

export interface CommonClock {
  /** The first moment: ms since 1970, by the clock of the first rank. */
  readonly base: number;
  /** The last moment. */
  readonly length: number;
  readonly ranks: readonly number[];
  readonly offsets: ReadonlyMap<number, ClockOffset>;
  /** The begin of each iteration. */
  readonly origins: ReadonlyMap<TraceRecord, number>;
  readonly arrows: readonly Arrow[];
}

/** Names of the machines' clocks of ranks that tell time by these. */
export const machineClocks = (
  records: readonly TraceRecord[],
): ReadonlyMap<number, string> =>
  new Map(
    records.flatMap(({ clock, rank }) => (clock === undefined ? [] : [[rank, clock]])),
  );

/** @param records at least one */
export function onOneClock(records: readonly TraceRecord[]): CommonClock {
  const base = baseOf(records);
  const ranks = [...new Set(records.map(({ rank }) => rank))].sort((a, b) => a - b);
  const raw = arrowsOf(records, base);
  const offsets = clockOffsets(ranks, raw, machineClocks(records));
  const ahead = (rank: number): number => offsets.get(rank)!.offset;
  let [begin, end] = [Infinity, -Infinity];
  const reach = (from: number, to: number): void => {
    begin = Math.min(begin, from);
    end = Math.max(end, to);
  };
  const corrected = records.map((record) => {
    const origin = originIn(base, record) - ahead(record.rank);
    reach(origin, origin + record.wall);
    // A gradient that was computed beside the exchange before begins earlier than its iteration.
    for (const [, , , , start, duration] of record.spans)
      reach(origin + start, origin + start + duration);
    return [record, origin] as const;
  });
  const arrows = raw.map((arrow): Arrow => {
    const sent = arrow.sent - ahead(arrow.from);
    const received = arrow.received - ahead(arrow.to);
    reach(sent, received);
    return { ...arrow, sent, received };
  });
  return {
    base: base + begin / 1e6,
    length: end - begin,
    ranks,
    offsets,
    origins: new Map(corrected.map(([record, origin]) => [record, origin - begin])),
    arrows: arrows.map((arrow) => ({
      ...arrow,
      sent: arrow.sent - begin,
      received: arrow.received - begin,
    })),
  };
}
