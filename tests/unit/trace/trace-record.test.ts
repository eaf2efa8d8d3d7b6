/** Records of traced iterations: averages between two iterations are part of none. */
import { expect, test } from 'vitest';
import { RunMeasures } from '../../../src/agent/exchange/run-measures.ts';
import { WEIGHTS_STREAM } from '../../../src/agent/exchange/streams.ts';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { SpanLog, type LoggedSpan } from '../../../src/agent/profile/span-log.ts';
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
