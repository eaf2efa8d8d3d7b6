/**
 * A traced iteration's record from the trainer thread's marks and the engine thread's log. Both
 * threads' clocks count from their own origins; the record's times are those of the rank.
 */
import {
  MOST_SPANS,
  type TraceRecord,
  type TraceSpan,
} from '../../shared/records/trace.ts';
import type { TracedExchange } from '../exchange/exchange-calls.ts';
import { bucketOf } from '../exchange/streams.ts';
import type { LoggedSpan } from '../profile/span-log.ts';
import type { Span, TakenStep } from './steps/steps.ts';

export interface TracedIteration {
  readonly rank: number;
  readonly iteration: number;
  /** Begin and end on the trainer thread's clock, ms. */
  readonly span: Span;
  readonly taken: Pick<
    TakenStep,
    'at' | 'applied' | 'began' | 'compute' | 'data' | 'program'
  >;
  readonly exchange: TracedExchange | undefined;
  /** Whether the engine runs on the trainer's thread. */
  readonly engineIsInline: boolean;
}

const NONE = -1;
const NANOSECONDS = 1e6;

/** A moment with the precision of a number of ms since 1970, which is stored: 0.24 µs. */
const stored = (moment: number): number => {
  const { timeOrigin } = performance;
  return timeOrigin + moment - timeOrigin;
};

export function makeTraceRecord(traced: TracedIteration): TraceRecord {
  const { engineIsInline, exchange, iteration, rank, span, taken } = traced;
  const { program } = taken;
  const { timeOrigin } = performance;
  const [begin, end] =
    program === undefined
      ? span
      : ([program.begin, program.begin + program.wall].map(stored) as [number, number]);
  /** Milliseconds on the trainer's clock as nanoseconds of the record. */
  const onTrainer = (ms: number): number => Math.round((ms - begin) * NANOSECONDS);
  // A constant difference: durations on the engine's thread stay exact.
  const between = (exchange?.timeOrigin ?? timeOrigin) - timeOrigin - begin;
  const onEngine = (ms: number): number => Math.round((ms + between) * NANOSECONDS);
  // Between two iterations weights may be averaged, which is part of neither. At a fence it is.
  const first = onTrainer(span[0]);
  const isWithin = ({ end: over }: LoggedSpan): boolean => onEngine(over) > first;
  const threads = threadsOf(program !== undefined, engineIsInline);
  const engineThread = threads.length - 1;
  const spans = [
    ...(program?.spans ?? []).map(([phase, start, duration]): TraceSpan => {
      return [0, phase, NONE, NONE, onTrainer(program!.begin) + start, duration, 0];
    }),
    ...trainerSpans(taken).map(([phase, [from, to]]): TraceSpan => {
      const start = onTrainer(from);
      return [0, phase, NONE, NONE, start, onTrainer(to) - start, 0];
    }),
    ...(exchange?.spans ?? []).filter(isWithin).map((one): TraceSpan => {
      const start = onEngine(one.start);
      const duration = onEngine(one.end) - start;
      const { hidden, peer, phase } = one;
      const bucket = bucketOf(one.stream);
      return [engineThread, phase, bucket, peer, start, duration, hidden ? 1 : 0];
    }),
  ];
  const tooMany = Math.max(0, spans.length - MOST_SPANS);
  const dropped = tooMany + (exchange?.dropped ?? 0) + (program?.dropped ?? 0);
  return {
    type: 'trace',
    at: taken.at,
    rank,
    iteration,
    origin: timeOrigin + begin,
    wall: onTrainer(end),
    threads,
    buckets: exchange?.buckets ?? [],
    spans: spans.slice(0, MOST_SPANS),
    messages: (exchange?.messages ?? [])
      .filter(({ at }) => onEngine(at) >= first)
      .map(({ at, bytes, peer, received, sequence, stream }) => [
        received ? 1 : 0,
        peer,
        bucketOf(stream),
        stream,
        sequence,
        bytes,
        onEngine(at),
      ]),
    ...(dropped === 0 ? {} : { dropped }),
  };
}

/** Names of the threads, of which messages leave the last one. */
function threadsOf(isProgram: boolean, engineIsInline: boolean): readonly string[] {
  if (isProgram) return ['program', 'engine'];
  return engineIsInline ? ['rank'] : ['trainer', 'engine'];
}

function trainerSpans({
  applied = [],
  began,
  compute,
  data,
}: TracedIteration['taken']): readonly (readonly [
  'data' | 'compute' | 'apply',
  Span,
])[] {
  const spans = applied.map((span) => ['apply', span] as const);
  if (began === undefined) return spans;
  const loaded = began + data;
  return [['data', [began, loaded]], ['compute', [loaded, loaded + compute]], ...spans];
}
