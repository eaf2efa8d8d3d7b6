/** The log of an engine's phase clock, on a clock that only moves when it is told to. */
import { expect, test } from 'vitest';
import { PhaseClock } from '../../../src/agent/profile/phase-clock.ts';
import { SpanLog } from '../../../src/agent/profile/span-log.ts';

function clockAt(now: { ms: number }): PhaseClock {
  const clock = new PhaseClock(() => now.ms);
  clock.log = new SpanLog(5);
  return clock;
}

const header = { stream: 17, sequence: 3, epoch: 0, operation: 1, dtype: 1 };

test('has a span for each phase and stream, in order, and none for idle time', () => {
  const now = { ms: 10 };
  const clock = clockAt(now);
  clock.begin();
  now.ms = 12; // nothing to wait for
  clock.measure(
    'compress',
    () => {
      now.ms = 15;
      clock.sending(1, header, 400);
      clock.working('send', 17)();
      now.ms = 16;
    },
    16,
  );
  clock.waiting({ kind: 'first', rank: 2 }, 18);
  now.ms = 20;
  clock.waiting({ kind: 'first', rank: 2 }, 19);
  now.ms = 21;
  clock.delivered(2, header, 40);
  clock.end();
  const { dropped, messages, spans } = clock.log!.take();
  expect(
    spans.map(({ end, peer, phase, start, stream }) => [
      phase,
      stream,
      peer,
      start,
      end,
    ]),
  ).toEqual([
    ['compress', 16, -1, 12, 16],
    ['wait', 18, 2, 16, 20],
    ['wait', 19, 2, 20, 21],
  ]);
  expect(messages).toEqual([
    { received: false, peer: 1, stream: 17, sequence: 3, bytes: 400, at: 15 },
    { received: true, peer: 2, stream: 17, sequence: 3, bytes: 40, at: 21 },
  ]);
  expect(dropped).toBe(0);
  expect(clock.log!.take().spans).toEqual([]);
});

test('says which part was hidden under the trainer’s work', () => {
  const now = { ms: 0 };
  const clock = clockAt(now);
  clock.begin(true);
  clock.measure('compress', () => {
    now.ms = 4;
  });
  clock.measure('reduce', () => {
    now.ms = 8;
  });
  clock.hideUntil(6);
  clock.measure('decompress', () => {
    now.ms = 9;
  });
  const { phases, hidden } = clock.end();
  const { spans } = clock.log!.take();
  expect(
    spans.map(({ end, hidden: isHidden, phase, start }) => [
      phase,
      start,
      end,
      isHidden,
    ]),
  ).toEqual([
    ['compress', 0, 4, true],
    ['reduce', 4, 6, true],
    ['reduce', 6, 8, false],
    ['decompress', 8, 9, false],
  ]);
  expect(phases.reduce - hidden!.phases.reduce).toBe(2);
});

test('counts what is beyond the most', () => {
  const now = { ms: 0 };
  const clock = clockAt(now);
  clock.begin();
  for (let i = 0; i < 4; i++) {
    clock.measure('compress', () => now.ms++);
    clock.measure('reduce', () => now.ms++);
  }
  const { dropped, spans } = clock.log!.take();
  expect([spans.length, dropped]).toEqual([5, 3]);
});

test('no message is logged between two exchanges', () => {
  const clock = clockAt({ ms: 0 });
  clock.sending(1, header, 4);
  expect(clock.log!.take().messages).toEqual([]);
});
