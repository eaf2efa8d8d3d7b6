/**
 * Traces as JSON that Perfetto and Chrome's tracing page open: a process for each rank, a thread for
 * each of its threads, complete events ("X") for spans, and flow events ("s", "f") for messages. Times are
 * microseconds by the clock of the first rank, as far as it is known, since the first moment of all:
 * Perfetto drops what is before 0.
 *
 * Source: "Trace Event Format" (Google, 2016).
 */
import type { TraceRecord } from '../records/trace.ts';
import type { ClockOffset } from './clock-offsets.ts';
import { onOneClock } from './common-clock.ts';

const MICROSECOND = 1000;

/** Pieces of the file's text. At least one record is needed. */
export function* chromeTrace(
  records: readonly TraceRecord[],
  run: string,
): Generator<string> {
  const { arrows, base, offsets, origins, ranks } = onOneClock(records);

  const metadata = {
    run,
    base,
    clocks: Object.fromEntries([...offsets].map(clockText)),
  };
  yield `{"displayTimeUnit":"ms","otherData":${JSON.stringify(metadata)},"traceEvents":[\n`;
  const events = function* (): Generator<object> {
    yield* names(records, ranks);
    for (const record of records) {
      const { iteration, rank, wall } = record;
      const origin = origins.get(record)!;
      yield {
        ph: 'X',
        name: `iteration ${iteration}`,
        cat: 'iteration',
        pid: rank,
        tid: ITERATIONS,
        ts: origin / MICROSECOND,
        dur: wall / MICROSECOND,
        args: { iteration },
      };
      for (const span of record.spans) {
        const [thread, phase, bucket, peer, start, duration, hidden] = span;
        yield {
          ...{
            ph: 'X',
            name: phase,
            cat: hidden === 1 ? 'hidden' : 'phase',
            pid: rank,
          },
          tid: thread,
          ts: (origin + start) / MICROSECOND,
          dur: duration / MICROSECOND,
          args: {
            iteration,
            ...(bucket < 0 ? {} : { bucket, tensors: record.buckets[bucket] ?? '' }),
            ...(peer < 0 ? {} : { 'awaited rank': peer }),
          },
        };
      }
    }
    for (const [id, { bucket, bytes, from, received, sent, to }] of arrows.entries()) {
      const common = { name: 'message', cat: 'message', id, args: { bytes, bucket } };
      yield {
        ...common,
        ph: 's',
        pid: from,
        tid: engineOf(records, from),
        ts: sent / MICROSECOND,
      };
      yield {
        ...common,
        ph: 'f',
        bp: 'e',
        pid: to,
        tid: engineOf(records, to),
        ts: received / MICROSECOND,
      };
    }
  };
  let separator = '';
  for (const event of events()) {
    yield separator + JSON.stringify(event);
    separator = ',\n';
  }
  yield '\n]}\n';
}

/** The thread that shows iterations as a whole, above those of the rank. */
const ITERATIONS = 100;

const engineOf = (records: readonly TraceRecord[], rank: number): number =>
  (records.find((record) => record.rank === rank)?.threads.length ?? 1) - 1;

function* names(
  records: readonly TraceRecord[],
  ranks: readonly number[],
): Generator<object> {
  for (const rank of ranks) {
    const process = { ph: 'M', pid: rank };
    yield { ...process, name: 'process_name', args: { name: `rank ${rank}` } };
    yield { ...process, name: 'process_sort_index', args: { sort_index: rank } };
    const { threads } = records.find((record) => record.rank === rank)!;
    for (const [tid, name] of [
      ...threads.entries(),
      [ITERATIONS, 'iterations'] as const,
    ]) {
      yield { ...process, tid, name: 'thread_name', args: { name } };
    }
  }
}

const clockText = ([rank, { offset, uncertainty }]: [number, ClockOffset]) => [
  `rank ${rank}`,
  {
    offsetNs: offset,
    ...(Number.isFinite(uncertainty) ? { uncertaintyNs: uncertainty } : {}),
  },
];
