/** Steps from one part of a run to another: they stay within the run and come to an end. */
import { describe, expect, it } from 'vitest';
import {
  moved,
  partBetween,
  spanAxis,
  spanRange,
  stepped,
  zoomed,
  type Span,
  type SpanStep,
} from '../../../src/renderer/charts/span.ts';

const LENGTH = 1_000_000;

function walk(span: Span, step: SpanStep, around?: number): readonly Span[] {
  const spans: Span[] = [];
  for (let at: Span | undefined = span; at !== undefined && spans.length < 100;) {
    spans.push(at);
    at = stepped(at, LENGTH, step, around);
  }
  return spans;
}

const sizeOf = (span: Span): number => {
  const { max, min } = spanAxis(span, LENGTH);
  return max - min;
};

describe('a step', () => {
  it('closer has a quarter around the iteration, down to ten', () => {
    const spans = walk('all', 'in', 777_777);
    for (const [index, span] of spans.entries()) {
      const { from, to } = spanRange(span, LENGTH);
      expect(from).toBeLessThanOrEqual(777_777);
      expect(to).toBeGreaterThan(777_777);
      const before = spans[index - 1];
      if (before === undefined) continue;
      const { from: start, to: end } = spanRange(before, LENGTH);
      expect(sizeOf(span)).toBe(Math.max(10, Math.round((end - start) / 4)));
    }
    expect(sizeOf(spans.at(-1)!)).toBe(10);
  });

  it('wider ends with the whole run', () => {
    expect(walk({ from: 500_000, to: 500_040 }, 'out').at(-1)).toBe('all');
    expect(walk(50, 'out').at(-1)).toBe('all');
  });

  it('earlier and later ends with the first and the last iteration', () => {
    const first = walk(1000, 'earlier').length;
    expect(first).toBeLessThanOrEqual(100);
    expect(spanRange(walk({ from: 900, to: 1300 }, 'earlier').at(-1)!, LENGTH)).toEqual(
      { from: 0, to: 400 },
    );
    const part = { from: LENGTH - 900, to: LENGTH - 500 };
    expect(spanRange(walk(part, 'later').at(-1)!, LENGTH).to).toBe(LENGTH);
  });

  it('in a run of a few iterations leads nowhere', () => {
    for (const step of ['in', 'out', 'earlier', 'later'] as const) {
      expect(stepped('all', 10, step)).toBeUndefined();
    }
  });
});

describe('zooming by a factor', () => {
  it('leaves the place under the pointer where it is', () => {
    const before = { from: 1000, to: 3000 };
    const after = zoomed(before, LENGTH, 0.5, 1500);
    expect(after).toEqual({ from: 1250, to: 2250 });
    expect(zoomed(after, LENGTH, 2, 1500)).toEqual(before);
  });

  it('adds up over many small turns, however close', () => {
    let span: Span = { from: 500_000, to: 500_100 };
    for (let turn = 0; turn < 1000; turn++) span = zoomed(span, LENGTH, 0.999, 500_050);
    expect(sizeOf(span)).toBeCloseTo(100 * 0.999 ** 1000, 6);
    for (let turn = 0; turn < 10_000; turn++)
      span = zoomed(span, LENGTH, 0.999, 500_050);
    expect(sizeOf(span)).toBe(10);
  });

  it('ends with the whole run, and begins from it, however short it is', () => {
    expect(zoomed({ from: 5, to: 105 }, 120, 4, 50)).toBe('all');
    expect(spanRange(zoomed('all', 30, 0.5, 29), 30).to).toBe(30);
    expect(zoomed('all', 30, 0.5, 15)).not.toBe('all');
    expect(zoomed(160, 30, 0.5, 15)).not.toBe('all');
    expect(zoomed('all', 5, 0.5, 2)).toBe('all');
    expect(zoomed('all', 0, 0.5, 0)).toBe('all');
  });

  it('stays within the run, wherever the pointer is', () => {
    for (const around of [-1e9, -1, 0, LENGTH, 1e9]) {
      const { from, to } = spanRange(zoomed('all', LENGTH, 0.1, around), LENGTH);
      expect(from).toBeGreaterThanOrEqual(0);
      expect(to).toBeLessThanOrEqual(LENGTH);
      expect(to - from).toBeGreaterThanOrEqual(100_000);
    }
  });
});

describe('moving', () => {
  it('ends at the ends of the run, and keeps the width', () => {
    const part = { from: 10, to: 110 };
    expect(moved(part, 1000, -5)).toEqual({ from: 0, to: 100 });
    expect(moved(part, 1000, 50)).toEqual({ from: 900, to: 1000 });
  });

  it('leaves a span that moves on with the run only to what is earlier', () => {
    expect(moved(160, 1000, 0.2)).toBe(160);
    expect(moved(160, 1000, -0.5)).toEqual({ from: 760, to: 920 });
    expect(moved('all', 1000, -0.5)).toBe('all');
  });
});

it('a part between two places has them in any order, and is no narrower than ten', () => {
  expect(partBetween(300, 200, LENGTH)).toEqual({ from: 200, to: 300 });
  expect(partBetween(200, 201, LENGTH)).toEqual({ from: 195.5, to: 205.5 });
  expect(partBetween(0, 1, LENGTH)).toEqual({ from: 0, to: 10 });
  expect(partBetween(-50, 2 * LENGTH, LENGTH)).toBe('all');
  expect(partBetween(1, 2, 3)).toBe('all');
});

it('a part has an axis of its own', () => {
  expect(spanAxis({ from: 10, to: 50 }, LENGTH)).toEqual({ min: 9.5, max: 49.5 });
});

it('whole iterations of a part that ends within some are all that it touches', () => {
  expect(spanRange({ from: 10.4, to: 20.2 }, 100)).toEqual({ from: 10, to: 21 });
  // Of a run that has become shorter: after it was read again.
  expect(spanRange({ from: 10.4, to: 20.2 }, 5)).toEqual({ from: 4, to: 5 });
  expect(spanRange({ from: 10.4, to: 20.2 }, 0)).toEqual({ from: 0, to: 0 });
});
