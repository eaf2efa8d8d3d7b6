/** Records of traced iterations: averages between two iterations are part of none. */
import { expect, test } from 'vitest';
import { RunMeasures } from '../../../src/agent/exchange/run-measures.ts';
import { WEIGHTS_STREAM } from '../../../src/agent/exchange/streams.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { SpanLog, type LoggedSpan } from '../../../src/agent/profile/span-log.ts';
import type { ProgramSpans } from '../../../src/agent/worker/steps/steps.ts';
import { MOST_SPANS, traceKind } from '../../../src/shared/records/trace.ts';
import { makeTraceRecord } from '../../../src/agent/worker/trace-record.ts';

test('what was averaged before an iteration is left out, what its fence averaged is not', () => {
  const span = (start: number, end: number): LoggedSpan => ({
    phase: 'reduce',
    stream: WEIGHTS_STREAM,
    peer: -1,
    start,
    end,
    hidden: false,
  });
  const message = { received: false, peer: 1, stream: WEIGHTS_STREAM, sequence: 0 };
  const { messages, spans } = makeTraceRecord({
    rank: 0,
    iteration: 7,
    span: [100, 120],
    taken: { at: 1, applied: [], began: undefined, compute: 0, data: 0 },
    exchange: {
      spans: [span(80, 90), span(99, 100), span(101, 103), span(110, 115)],
      messages: [
        { ...message, bytes: 4, at: 85 },
        { ...message, bytes: 8, at: 102 },
      ],
      dropped: 0,
      timeOrigin: performance.timeOrigin,
      buckets: [],
    },
    engineIsInline: true,
  });
  expect(spans.map(([, , , , start]) => start / 1e6)).toEqual([1, 10]);
  expect(messages.map(([, , , , , bytes]) => bytes)).toEqual([8]);
});

test('spans beyond the most of a record are counted, and the record stays one', () => {
  const ms = (start: number): LoggedSpan => {
    return {
      phase: 'send',
      stream: 16,
      peer: -1,
      start,
      end: start + 1,
      hidden: false,
    };
  };
  const record = makeTraceRecord({
    rank: 0,
    iteration: 7,
    span: [0, MOST_SPANS],
    taken: { at: 1, applied: [[0, 1]], began: 0, compute: 1, data: 1 },
    exchange: {
      spans: Array.from({ length: MOST_SPANS }, (_, i) => ms(i)),
      messages: [],
      dropped: 5,
      timeOrigin: performance.timeOrigin,
      buckets: [],
    },
    engineIsInline: false,
  });
  expect(record.spans).toHaveLength(MOST_SPANS);
  expect(record.dropped).toBe(5 + 3);
  expect(traceKind.schema.parse(record)).toEqual(record);
});

test('a program’s spans are on a lane of its own, from the begin of its step', () => {
  const spans: ProgramSpans['spans'] = [
    ['data', 0, 5e6],
    ['forward', 5e6, 7e6],
  ];
  const program = { begin: 90.1, wall: 40, dropped: 2, spans };
  const record = makeTraceRecord({
    rank: 0,
    iteration: 7,
    span: [100, 135],
    taken: { at: 1, began: undefined, compute: 0, data: 5, program },
    exchange: {
      // The first is an average between two iterations, though after the step's begin.
      spans: [95, 110].map((start) => {
        const end = start + 4;
        return { phase: 'reduce', stream: 16, peer: -1, start, end, hidden: false };
      }),
      messages: [],
      dropped: 0,
      timeOrigin: performance.timeOrigin,
      buckets: [],
    },
    engineIsInline: true,
  });
  expect(record).toMatchObject({ threads: ['program', 'engine'], dropped: 2 });
  expect(record.wall / 1e6).toBeCloseTo(40, 3);
  const seen = record.spans.map(([on, phase, , , start]) => {
    const at = Math.round(record.origin - performance.timeOrigin + start / 1e6);
    return [on, phase, at];
  });
  expect(seen).toEqual([
    [0, 'data', 90],
    [0, 'forward', 95],
    [1, 'reduce', 110],
  ]);
});

test.each([
  { measures: true, logged: 0 },
  { measures: false, logged: 1 },
])(
  'an average that only measures is not logged, and the next one is: $measures',
  async ({ logged, measures }) => {
    let now = 0;
    const clock = new PhaseClock(() => now);
    const log = new SpanLog(10);
    clock.log = log;
    const average = async (): Promise<void> =>
      clock.measure('reduce', () => {
        now += 5;
      });
    const options = {
      clock,
      group: { average },
      ledger: { setAside: () => () => undefined },
      transport: { counters: {} },
    } as unknown as ConstructorParameters<typeof RunMeasures>[0];
    const vector = { offset: 0, length: 1 };
    const profile = await new RunMeasures(options).average(vector, measures);
    expect(profile.phases.reduce).toBe(5);
    expect(clock.log).toBe(log);
    expect(log.take().spans).toHaveLength(logged);
  },
);
