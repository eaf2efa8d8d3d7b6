/**
 * The record of a traced step of a program that is only observed: its own thread, and beside it the
 * averages that it makes by itself. A sum over ranks ends on none of them before each has handed
 * over its bucket, so two ranks are taken to send each other a message in each: the moment of
 * handing it over, and that of the sum's end. What DDP takes from rank 0 before a forward pass is such a message, too.
 */
import {
  MOST_SPANS,
  NETWORK_THREAD,
  type TraceMessage,
  type TraceRecord,
  type TraceSpan,
} from '../../shared/records/trace.ts';
import {
  MOST_BUCKETS,
  type BucketLayout,
  type ProgramTrace,
} from '../bridge/messages.ts';

export interface ObservedStep {
  readonly rank: number;
  readonly ranks: number;
  readonly iteration: number;
  /** The name of the machine's clock. */
  readonly clock: string;
  /** The step's begin on that clock, ms since 1970. */
  readonly at: number;
  readonly trace: ProgramTrace;
  readonly layout: ReadonlyMap<number, BucketLayout>;
}

const NONE = -1;
const PROGRAM = 0;
const NETWORK = 1;

/** The stream of messages from rank 0. The streams below it are those of the buckets. */
const MEETING = MOST_BUCKETS + 1;

/** Averages of a step that are told apart: its place in the numbers of all steps. */
const MOST_SUMS = 10_000;

export function observedTrace(step: ObservedStep): TraceRecord {
  const { at, clock, iteration, layout, rank, trace } = step;
  const { wall } = trace;
  const spans = [
    ...trace.spans.map(([phase, start, duration]): TraceSpan => {
      return [PROGRAM, phase, NONE, NONE, start, duration, 0];
    }),
    ...trace.sums.flatMap(sumSpans),
    ...trace.met.flatMap((stretch) => spanOf(NONE, stretch, 0)),
  ].map((span) => within(wall, span));
  const messages = [...sumMessages(step), ...meetingMessages(step)];
  const dropped = [spans, messages].reduce(
    (sum, { length }) => sum + Math.max(0, length - MOST_SPANS),
    trace.dropped,
  );
  return {
    type: 'trace',
    at,
    rank,
    iteration,
    origin: at,
    clock,
    wall,
    threads: ['program', NETWORK_THREAD],
    buckets: namesOf(layout),
    spans: spans.slice(0, MOST_SPANS),
    messages: messages.slice(0, MOST_SPANS),
    ...(dropped === 0 ? {} : { dropped }),
  };
}

/** A span cut off at the end of its step, beyond which rounding may have moved it. */
const within = (
  wall: number,
  [on, phase, bucket, peer, start, time, hidden]: TraceSpan,
): TraceSpan => {
  const from = Math.min(start, wall);
  return [on, phase, bucket, peer, from, Math.min(time, wall - from), hidden];
};

/** The time of a sum that is its own: behind computing, and after all of the gradient was there. */
function sumSpans([
  place,
  ,
  end,
  since,
  complete,
]: ProgramTrace['sums'][number]): readonly TraceSpan[] {
  const hiddenUntil = Math.min(end, Math.max(since, complete));
  return [
    ...spanOf(place, [since, hiddenUntil], 1),
    ...spanOf(place, [hiddenUntil, end], 0),
  ];
}

const spanOf = (
  bucket: number,
  [from, to]: readonly [number, number],
  hidden: 0 | 1,
): readonly TraceSpan[] =>
  to > from ? [[NETWORK, 'wait', bucket, NONE, from, to - from, hidden]] : [];

function sumMessages({
  iteration,
  layout,
  rank,
  ranks,
  trace,
}: ObservedStep): readonly TraceMessage[] {
  const peers = Array.from({ length: ranks }, (_, peer) => peer).filter(
    (peer) => peer !== rank,
  );
  return trace.sums.flatMap(([place, begin, end], number) => {
    const bucket = layout.get(place);
    // What a hook of the program does with a bucket is not known.
    if (bucket === undefined || bucket.encoded) return [];
    const sequence = iteration * MOST_SUMS + number;
    const { ranks: among = peers } = bucket;
    const others = peers.filter((peer) => among.includes(peer));
    return others.flatMap((peer): readonly TraceMessage[] => [
      [0, peer, place, place, sequence, bucket.bytes, begin],
      [1, peer, place, place, sequence, bucket.bytes, end],
    ]);
  });
}

/** Arrows for what DDP takes from rank 0, such as its buffers: it is there on no rank before rank 0 gives it. */
function meetingMessages({
  iteration,
  rank,
  ranks,
  trace,
}: ObservedStep): readonly TraceMessage[] {
  return trace.met.flatMap(([begin, end], number) => {
    const sequence = iteration * MOST_SUMS + number;
    const message = (received: 0 | 1, peer: number, at: number): TraceMessage => {
      return [received, peer, NONE, MEETING, sequence, 0, at];
    };
    if (rank > 0) return [message(1, 0, end)];
    return Array.from({ length: ranks - 1 }, (_, i) => message(0, i + 1, begin));
  });
}

function namesOf(layout: ReadonlyMap<number, BucketLayout>): readonly string[] {
  const places = Math.max(-1, ...layout.keys()) + 1;
  return Array.from({ length: places }, (_, place) => layout.get(place)?.name ?? '');
}
