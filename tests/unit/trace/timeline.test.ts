/** Timelines of made-up traces, whose sums are added up span by span. */
import { expect, test } from 'vitest';
import {
  around,
  moved,
  tickText,
  zoomed,
} from '../../../src/renderer/charts/timeline/time-window.ts';
import type { Phase } from '../../../src/shared/records/phases.ts';
import type { TraceRecord, TraceSpan } from '../../../src/shared/records/trace.ts';
import { firstAfter, sumsIn, timelineOf } from '../../../src/shared/trace/timeline.ts';
import { generator } from '../../integration/collectives/run-collective.ts';

const CYCLE: readonly Phase[] = ['compress', 'send', 'wait', 'reduce'];

/** Spans without a gap on both threads, of random lengths. */
function record(rank: number, iteration: number, random: () => number): TraceRecord {
  const spans: TraceSpan[] = [];
  for (const thread of [0, 1]) {
    let at = 0;
    for (let i = 0; i < 40; i++) {
      const duration = 1 + Math.floor(1000 * random());
      const phase = CYCLE[i % CYCLE.length]!;
      spans.push([thread, phase, i % 3, -1, at, duration, 0]);
      at += duration;
    }
  }
  return {
    type: 'trace',
    at: 0,
    rank,
    iteration,
    origin: 1000 + iteration,
    wall: 50_000,
    threads: ['trainer', 'engine'],
    buckets: ['a', 'b', 'c'],
    spans,
    messages: [],
  };
}

const random = generator(5);
const records = [0, 1].flatMap((rank) => [0, 1].map((i) => record(rank, i, random)));
const timeline = timelineOf(records);

test('has a lane for each thread, and every span in it', () => {
  expect(timeline.lanes.map(({ rank, thread }) => `${rank} ${thread}`)).toEqual([
    ...['0 trainer', '0 engine', '1 trainer', '1 engine'],
  ]);
  for (const { ends, starts } of timeline.lanes) {
    expect(starts).toHaveLength(80);
    for (let i = 1; i < starts.length; i++) {
      expect(starts[i]).toBeGreaterThanOrEqual(ends[i - 1]!);
    }
  }
  expect(timeline.length).toBe(1e6 + 50_000);
});

test('sums of any stretch are those of its nanoseconds', () => {
  for (let round = 0; round < 50; round++) {
    const from = Math.floor(20_000 * random());
    const to = from + 1 + Math.floor(20_000 * random());
    for (const { lane, phases, total } of sumsIn(timeline, from, to)) {
      const counted = new Map<string, number>();
      const thread = lane.isEngine ? 1 : 0;
      for (const one of records) {
        if (one.rank !== lane.rank) continue;
        const origin = one.iteration * 1e6;
        for (const [on, phase, , , start, duration] of one.spans) {
          if (on !== thread) continue;
          const begin = Math.max(from, origin + start);
          const time = Math.min(to, origin + start + duration) - begin;
          if (time > 0) counted.set(phase, (counted.get(phase) ?? 0) + time);
        }
      }
      expect(new Map(phases)).toEqual(counted);
      expect(total).toBe([...counted.values()].reduce((a, b) => a + b, 0));
    }
  }
});

test('the first span after a moment is found', () => {
  const lane = timeline.lanes[2]!;
  for (let round = 0; round < 200; round++) {
    // The moment at which a span ends is not in it.
    const moment = round < 80 ? lane.ends[round]! : Math.floor(1.1e6 * random());
    const found = lane.ends.findIndex((end) => end > moment);
    expect(firstAfter(lane, moment)).toBe(found < 0 ? lane.ends.length : found);
  }
});

test('ticks are told apart, however close they are', () => {
  const ticks = (step: number, from: number, most: number): string[] =>
    [0, 1, 2].map((i) => tickText(from + i * step, step, most));
  expect(ticks(2e6, 1.954e9, 1.96e9)).toEqual(['1.954 s', '1.956 s', '1.958 s']);
  expect(ticks(5e8, 0, 2e9)).toEqual(['0.0 s', '0.5 s', '1.0 s']);
  expect(ticks(1e9, 0, 5e9)).toEqual(['0 s', '1 s', '2 s']);
  expect(ticks(200, 12_000, 13_000)).toEqual(['12.0 µs', '12.2 µs', '12.4 µs']);
  expect(ticks(1e7, 0, 1e8)).toEqual(['0 ms', '10 ms', '20 ms']);
});

test('a window stays within the whole, and what is pointed at stays where it is', () => {
  const length = 1e9;
  let shown = { from: 0, to: length };
  for (let round = 0; round < 500; round++) {
    const point = shown.from + random() * (shown.to - shown.from);
    const share = (point - shown.from) / (shown.to - shown.from);
    const closer = zoomed(shown, 0.8, point, length);
    const place = (point - closer.from) / (closer.to - closer.from);
    expect(place).toBeCloseTo(share, 5);
    shown = random() < 0.5 ? moved(closer, random() - 0.5, length) : closer;
    if (random() < 0.4) shown = zoomed(shown, 3, point, length);
    expect(shown.from).toBeGreaterThanOrEqual(0);
    expect(shown.to).toBeLessThanOrEqual(length + 1e-3);
    expect(shown.to - shown.from).toBeGreaterThanOrEqual(999);
  }
  expect(around({ from: 400, to: 500 }, length)).toEqual({ from: 0, to: 1000 });
});
