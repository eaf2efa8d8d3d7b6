/**
 * Traces of several ranks as one timeline: a lane for each thread, its spans in order, and the
 * messages between them. Times are nanoseconds since its begin, by the clock of the first rank.
 * Spans are columns of numbers, so that a hundred thousand are drawn without an object each.
 */
import { PHASES, type Phase } from '../records/phases.ts';
import { NETWORK_THREAD, type TraceRecord } from '../records/trace.ts';
import type { ClockOffset } from './clock-offsets.ts';
import { onOneClock } from './common-clock.ts';
import type { Arrow } from './message-arrows.ts';

export interface Lane {
  readonly rank: number;
  readonly thread: string;
  /** Whether messages leave and arrive here. */
  readonly isEngine: boolean;
  /** Whether these are averages of a program's own, which begin when its other thread hands them over. */
  readonly isNetwork: boolean;
  /** Spans by their begin. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Places in `PHASES`. */
  readonly phases: Uint8Array;
  /** -1: none. */
  readonly buckets: Int32Array;
  /** The awaited rank; -1: none. */
  readonly peers: Int32Array;
  readonly hidden: Uint8Array;
  readonly iterations: Int32Array;
}

interface TracedIterationSpan {
  readonly rank: number;
  readonly iteration: number;
  readonly from: number;
  readonly to: number;
  /** Names of its buckets, by index: those of another plan have others. */
  readonly buckets: readonly string[];
}

export interface Timeline {
  readonly lanes: readonly Lane[];
  /** Messages by the moment at which they were sent. */
  readonly arrows: readonly Arrow[];
  readonly iterations: readonly TracedIterationSpan[];
  readonly clocks: ReadonlyMap<number, ClockOffset>;
  /** Nanoseconds. */
  readonly length: number;
  /** Spans and messages that were beyond the most of their records. */
  readonly dropped: number;
  /** Records without spans, of ranks that heard of the order too late. */
  readonly late: number;
}

/** @param records at least one */
export function timelineOf(records: readonly TraceRecord[]): Timeline {
  const { arrows, length, offsets, origins, ranks } = onOneClock(records);
  return {
    lanes: ranks.flatMap((rank) => {
      const own = records.filter((record) => record.rank === rank);
      return lanesOf(own, (record) => origins.get(record)!);
    }),
    arrows: arrows.toSorted((a, b) => a.sent - b.sent),
    iterations: records.map((record) => {
      const { buckets, iteration, rank, wall } = record;
      const from = origins.get(record)!;
      return { rank, iteration, from, to: from + wall, buckets };
    }),
    clocks: offsets,
    length,
    dropped: records.reduce((sum, { dropped = 0 }) => sum + dropped, 0),
    late: records.filter(isLate).length,
  };
}

/** Whether a record has no spans, as its rank heard of the order too late. */
export const isLate = ({ spans }: Pick<TraceRecord, 'spans'>): boolean =>
  spans.length === 0;

/** Records without spans, in a sentence; empty if there are none. */
export const lateText = (late: number, all: number): string =>
  late === 0
    ? ''
    : `${late} of ${all} records have no spans: their ranks heard of the order too late.`;

/** The name of a bucket in an iteration of a rank; undefined if it exchanged none there. */
export const bucketName = (
  { iterations }: Timeline,
  place: Pick<TracedIterationSpan, 'rank' | 'iteration'>,
  bucket: number,
): string | undefined =>
  iterations.find(
    ({ iteration, rank }) => rank === place.rank && iteration === place.iteration,
  )?.buckets[bucket];

/** The lanes of one rank. */
function lanesOf(
  records: readonly TraceRecord[],
  originOf: (record: TraceRecord) => number,
): readonly Lane[] {
  const { rank, threads } = records[0]!;
  return threads.map((thread, number) => {
    const spans = records
      .flatMap((record) => {
        const origin = originOf(record);
        return record.spans
          .filter(([on]) => on === number)
          .map(([, phase, bucket, peer, start, duration, hidden]) => ({
            start: origin + start,
            end: origin + start + duration,
            phase,
            bucket,
            peer,
            hidden,
            iteration: record.iteration,
          }));
      })
      .sort((a, b) => a.start - b.start);
    return {
      rank,
      thread,
      isEngine: number === threads.length - 1,
      isNetwork: thread === NETWORK_THREAD,
      starts: Float64Array.from(spans, ({ start }) => start),
      ends: Float64Array.from(spans, ({ end }) => end),
      phases: Uint8Array.from(spans, ({ phase }) => PHASES.indexOf(phase)),
      buckets: Int32Array.from(spans, ({ bucket }) => bucket),
      peers: Int32Array.from(spans, ({ peer }) => peer),
      hidden: Uint8Array.from(spans, ({ hidden }) => hidden),
      iterations: Int32Array.from(spans, ({ iteration }) => iteration),
    };
  });
}

/**
 * The first span of a lane that ends after a moment: spans of a lane do not overlap.
 * @param from the first span that may be it
 */
export function firstAfter({ ends }: Lane, moment: number, from = 0): number {
  let low = from;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

export interface LaneSums {
  readonly lane: Lane;
  /** Nanoseconds by phase. */
  readonly phases: ReadonlyMap<Phase, number>;
  readonly total: number;
}

/** Sums of each lane's phases in a stretch of time; spans count as far as they lie in it. */
export function sumsIn(
  { lanes }: Timeline,
  from: number,
  to: number,
): readonly LaneSums[] {
  return lanes.map((lane) => {
    const phases = new Map<Phase, number>();
    let total = 0;
    for (let i = firstAfter(lane, from); i < lane.starts.length; i++) {
      if (lane.starts[i]! >= to) break;
      const time = Math.min(lane.ends[i]!, to) - Math.max(lane.starts[i]!, from);
      const phase = PHASES[lane.phases[i]!]!;
      phases.set(phase, (phases.get(phase) ?? 0) + time);
      total += time;
    }
    return { lane, phases, total };
  });
}
