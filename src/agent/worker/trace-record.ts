/**
 * A traced iteration's record from the trainer thread's marks and the engine thread's log. Both
 * threads' clocks count from their own origins; the record's times are those of the rank.
 */
import type { TraceRecord, TraceSpan } from '../../shared/records/trace.ts';
import type { TracedExchange } from '../exchange/exchange-calls.ts';
import { bucketOf } from '../exchange/streams.ts';
import type { LoggedSpan } from '../profile/span-log.ts';
import type { Span, TakenStep } from './steps/steps.ts';

export interface TracedIteration {
  readonly rank: number;
  readonly iteration: number;
  /** Begin and end on the trainer thread's clock, ms. */
  readonly span: Span;
  readonly taken: Pick<TakenStep, 'at' | 'applied' | 'began' | 'compute' | 'data'>;
  readonly exchange: TracedExchange | undefined;
  /** Whether the engine runs on the trainer's thread. */
  readonly engineIsInline: boolean;
}

const NONE = -1;
const NANOSECONDS = 1e6;

export function makeTraceRecord(traced: TracedIteration): TraceRecord {
  const { engineIsInline, exchange, iteration, rank, span, taken } = traced;
  const [begin, end] = span;
  const { timeOrigin } = performance;
  /** Milliseconds on the trainer's clock as nanoseconds of the record. */
  const onTrainer = (ms: number): number => Math.round((ms - begin) * NANOSECONDS);
  // A constant difference: durations on the engine's thread stay exact.
  const between = (exchange?.timeOrigin ?? timeOrigin) - timeOrigin - begin;
  const onEngine = (ms: number): number => Math.round((ms + between) * NANOSECONDS);
  // Between two iterations weights may be averaged, which is part of neither. At a fence it is.
  const isWithin = ({ end: over }: LoggedSpan): boolean => onEngine(over) > 0;
  const engineThread = engineIsInline ? 0 : 1;
  return {
    type: 'trace',
    at: taken.at,
    rank,
    iteration,
    origin: timeOrigin + begin,
    wall: onTrainer(end),
    threads: engineIsInline ? ['rank'] : ['trainer', 'engine'],
    buckets: exchange?.buckets ?? [],
    spans: [
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
    ],
    messages: (exchange?.messages ?? [])
      .filter(({ at }) => onEngine(at) >= 0)
      .map(({ at, bytes, peer, received, sequence, stream }) => [
        received ? 1 : 0,
        peer,
        bucketOf(stream),
        stream,
        sequence,
        bytes,
        onEngine(at),
      ]),
    ...(exchange === undefined || exchange.dropped === 0
      ? {}
      : { dropped: exchange.dropped }),
  };
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
