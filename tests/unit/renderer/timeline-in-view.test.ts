/** Drawing of a timeline with many lanes, spans and messages, and finding what is at a place of it. */
import { describe, expect, test } from 'vitest';
import { arrowsToDraw } from '../../../src/renderer/charts/timeline/arrows-to-draw.ts';
import {
  AXIS_HEIGHT,
  heightOf,
  laneAt,
  LANE_HEIGHT,
  lanesInView,
  scrolledTo,
  topOf,
} from '../../../src/renderer/charts/timeline/lane-view.ts';
import { pathLines } from '../../../src/renderer/charts/timeline/path-lines.ts';
import { spansToDraw } from '../../../src/renderer/charts/timeline/spans-to-draw.ts';
import {
  indexOf,
  type TimelineIndex,
} from '../../../src/renderer/charts/timeline/timeline-index.ts';
import { ArrowIndex } from '../../../src/renderer/charts/timeline/arrow-index.ts';
import type { PathPart } from '../../../src/renderer/charts/timeline/critical-path.ts';
import type { Arrow } from '../../../src/shared/trace/message-arrows.ts';
import type { Lane } from '../../../src/shared/trace/timeline.ts';
import { generator } from '../../integration/collectives/run-collective.ts';

describe('of a thousand lanes', () => {
  const LANES = 1000;
  const random = generator(3);

  test('those with a pixel in view are drawn, and found where they are drawn', () => {
    for (let round = 0; round < 200; round++) {
      const height = AXIS_HEIGHT + 1 + Math.floor(600 * random());
      const most = heightOf(LANES) - height;
      const view = { height, scrolled: Math.floor(most * random()) };
      const { end, first } = lanesInView(LANES, view);
      const seen = Array.from({ length: LANES }, (_, lane) => lane).filter((lane) => {
        const top = topOf(lane, view);
        return top + LANE_HEIGHT > AXIS_HEIGHT && top < height;
      });
      expect([first, end - 1]).toEqual([seen[0], seen.at(-1)]);
      for (let y = AXIS_HEIGHT; y < height; y += 7) {
        const lane = laneAt(y, view, LANES);
        if (lane === undefined) {
          expect(y).toBeGreaterThanOrEqual(topOf(LANES, view));
          continue;
        }
        expect(topOf(lane, view)).toBeLessThanOrEqual(y);
        expect(topOf(lane + 1, view)).toBeGreaterThan(y);
      }
      expect(laneAt(AXIS_HEIGHT - 1, view, LANES)).toBeUndefined();
    }
  });

  test('one that is walked to comes into view, and nothing moves if it was', () => {
    const view = { height: 300, scrolled: 500 };
    for (let lane = 0; lane < LANES; lane += 9) {
      const scrolled = scrolledTo(lane, view);
      const top = topOf(lane, { scrolled });
      expect(top).toBeGreaterThanOrEqual(AXIS_HEIGHT);
      expect(top + LANE_HEIGHT).toBeLessThanOrEqual(view.height);
      expect(scrolled).toBeLessThanOrEqual(heightOf(LANES) - view.height);
    }
    expect(scrolledTo(22, view)).toBe(500);
  });

  test('all are in view where there is room', () => {
    const view = { scrolled: 0, height: heightOf(8) };
    expect(lanesInView(8, view)).toEqual({ first: 0, end: 8 });
    expect(lanesInView(0, view)).toEqual({ first: 0, end: 0 });
  });
});

/** A lane with these spans, one after the other from 0 on. */
function laneOf(lengths: readonly number[]): Lane {
  const ends: number[] = [];
  for (const length of lengths) ends.push((ends.at(-1) ?? 0) + length);
  const none = lengths.map(() => -1);
  return {
    rank: 0,
    thread: 'rank',
    isEngine: true,
    isNetwork: false,
    starts: Float64Array.from(ends, (end, i) => end - lengths[i]!),
    ends: Float64Array.from(ends),
    phases: new Uint8Array(lengths.length),
    buckets: Int32Array.from(none),
    peers: Int32Array.from(none),
    hidden: new Uint8Array(lengths.length),
    iterations: new Int32Array(lengths.length),
  };
}

test('one span is drawn of those within a pixel, and all that are wider', () => {
  const random = generator(4);
  const lane = laneOf(
    Array.from({ length: 50_000 }, () => (random() < 0.001 ? 5000 : 1 + 9 * random())),
  );
  const window = { from: 100, to: lane.ends.at(-1)! - 100 };
  const width = 700;
  const pixel = (window.to - window.from) / width;
  const drawn = spansToDraw(lane, window, width);
  const set = new Set(drawn);
  expect(drawn.length).toBeLessThan(2 * width);
  const covered = new Set(
    drawn.flatMap((i) => {
      const first = Math.floor((lane.starts[i]! - window.from) / pixel);
      const last = Math.floor((lane.ends[i]! - window.from) / pixel);
      return Array.from({ length: last - first + 1 }, (_, k) => first + k);
    }),
  );
  // The lane has no gap, so each pixel of it is drawn.
  const columns = Array.from({ length: width }, (_, column) => column);
  expect(columns.filter((column) => !covered.has(column))).toEqual([]);
  const wide = [...lane.starts.keys()].filter((i) => {
    const isSeen = lane.ends[i]! > window.from && lane.starts[i]! < window.to;
    return isSeen && lane.ends[i]! - lane.starts[i]! >= pixel;
  });
  expect(wide.length).toBeGreaterThan(10);
  expect(wide.filter((i) => !set.has(i))).toEqual([]);
});

test('a span is drawn in each pixel that has one, and a search finds the next', () => {
  // A nanosecond in every hundred, which are a pixel.
  const { ends, starts, ...lane } = laneOf(
    Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? 1 : 99)),
  );
  const rare = {
    ...lane,
    starts: starts.filter((_, i) => i % 2 === 0),
    ends: ends.filter((_, i) => i % 2 === 0),
  };
  const drawn = spansToDraw(rare, { from: 0, to: 20_000 }, 200);
  expect(drawn).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

const arrowOf = (sent: number, received: number, from = 0, to = 1): Arrow => ({
  from,
  to,
  sent,
  received,
  bucket: 0,
  stream: 16,
  bytes: 8,
  iteration: 0,
});

test('messages of a stretch are those that a look at all of them finds', () => {
  const random = generator(6);
  const arrows = Array.from({ length: 300 }, () => {
    const sent = 1000 * random();
    return arrowOf(sent, sent + (random() < 0.05 ? 400 : 10) * random());
  }).sort((a, b) => a.sent - b.sent);
  const index = new ArrowIndex(arrows);
  for (let round = 0; round < 100; round++) {
    const from = 1000 * random();
    const to = from + 50 * random();
    const expected = arrows.flatMap(({ received, sent }, i) =>
      received > from && sent < to ? [i] : [],
    );
    expect([...index.in(from, to)]).toEqual(expected);
  }
});

/** Ranks 0, 1 … with these messages and this critical path. */
function indexWith(
  ranks: number,
  arrows: readonly Arrow[],
  parts: readonly PathPart[] = [],
): TimelineIndex {
  const lanes = Array.from({ length: ranks }, (_, rank) => ({ ...laneOf([9]), rank }));
  const timeline = {
    lanes,
    arrows,
    iterations: [],
    clocks: new Map(),
    length: 1000,
    dropped: 0,
    late: 0,
  };
  return indexOf(timeline, [{ iteration: 0, from: 0, to: 1000, parts }]);
}

const partOf = (own: Partial<PathPart>): PathPart => ({
  rank: 0,
  lane: -1,
  span: -1,
  arrow: -1,
  from: 0,
  to: 0,
  ...own,
});

const WHOLE = { from: 0, to: 1000 };

describe('messages', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => arrowOf(i, i + 5));
  const both = { first: 0, end: 2 };

  test('of critical paths are drawn though there are too many others', () => {
    const index = indexWith(2, many(400), [partOf({ arrow: 350, from: 350, to: 355 })]);
    expect(arrowsToDraw(index, WHOLE, both)).toEqual({ onPaths: [350], others: [] });
  });

  test('are all drawn if they are few', () => {
    const index = indexWith(2, many(200), [partOf({ arrow: 3, from: 3, to: 8 })]);
    const { onPaths, others } = arrowsToDraw(index, WHOLE, both);
    expect(onPaths).toEqual([3]);
    expect(others).toHaveLength(199);
  });

  test('between lanes out of view are neither drawn nor counted', () => {
    const seen = [arrowOf(500, 505, 2, 3), arrowOf(501, 509, 0, 3)];
    const index = indexWith(4, [...many(400), ...seen]);
    const drawn = arrowsToDraw(index, WHOLE, { first: 2, end: 4 });
    expect(drawn).toEqual({ onPaths: [], others: [400, 401] });
  });
});

test('messages to draw are those that a look at all of them chooses', () => {
  const random = generator(8);
  const RANKS = 6;
  const arrows = Array.from({ length: 3000 }, () => {
    const [sent, from] = [1000 * random(), Math.floor(RANKS * random())];
    return arrowOf(sent, sent + 20 * random(), from, (from + 1) % RANKS);
  }).sort((a, b) => a.sent - b.sent);
  const chosen = [...arrows.keys()].filter(() => random() < 0.02);
  const parts = chosen.map((arrow) => partOf({ arrow })).reverse();
  const index = indexWith(RANKS, arrows, parts);
  const onPath = new Set(parts.map(({ arrow }) => arrow));
  let none = 0;
  for (let round = 0; round < 200; round++) {
    const from = 1000 * random();
    const window = { from, to: from + 300 * random() };
    const first = Math.floor((RANKS - 1) * random());
    const lanes = { first, end: first + 1 + Math.floor(3 * random()) };
    const seen = arrows.flatMap((arrow, place) => {
      const isSeen = arrow.received > window.from && arrow.sent < window.to;
      const ends = [arrow.from, arrow.to].toSorted((a, b) => a - b);
      return isSeen && ends[1]! >= lanes.first && ends[0]! < lanes.end ? [place] : [];
    });
    const others = seen.filter((place) => !onPath.has(place));
    if (others.length > 300) none++;
    expect(arrowsToDraw(index, window, lanes)).toEqual({
      onPaths: seen.filter((place) => onPath.has(place)),
      others: others.length > 300 ? [] : others,
    });
  }
  expect(none).toBeGreaterThan(10);
  expect(none).toBeLessThan(190);
});

test('a critical path is a line along its spans, one of several parts within a pixel', () => {
  const index = indexWith(
    3,
    [arrowOf(120, 130)],
    [
      partOf({ lane: 0, from: 0, to: 100 }),
      partOf({ from: 100, to: 120 }),
      partOf({ rank: 1, arrow: 0, from: 120, to: 130 }),
      ...Array.from({ length: 50 }, (_, i) =>
        partOf({ rank: 1, lane: 1, from: 130 + i / 100, to: 130 + (i + 1) / 100 }),
      ),
      partOf({ rank: 2, lane: 2, from: 200, to: 300 }),
    ],
  );
  const lines = pathLines(index, WHOLE, { first: 0, end: 2 }, (time) => time);
  expect(lines).toEqual([
    { lane: 0, left: 0, right: 100, isTraced: true },
    { lane: 0, left: 100, right: 120, isTraced: false },
    { lane: 1, left: 130, right: 131, isTraced: true },
  ]);
});
