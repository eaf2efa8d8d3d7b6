/** Steps from one part of a run to another: they stay within the run and come to an end. */
import { describe, expect, it } from 'vitest';
import {
  spanAxis,
  spanRange,
  stepped,
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

describe('a step', () => {
  it('closer has a quarter around the iteration, down to forty', () => {
    const spans = walk('all', 'in', 777_777).map((span) => spanRange(span, LENGTH));
    for (const [index, { from, to }] of spans.entries()) {
      expect(from).toBeLessThanOrEqual(777_777);
      expect(to).toBeGreaterThan(777_777);
      const before = spans[index - 1];
      if (before === undefined) continue;
      const quarter = Math.round((before.to - before.from) / 4);
      expect(to - from).toBe(Math.max(40, quarter));
    }
    expect(spans.at(-1)!.to - spans.at(-1)!.from).toBe(40);
  });

  it('wider ends with the whole run', () => {
    expect(walk({ from: 500_000, to: 500_040 }, 'out').at(-1)).toBe('all');
    expect(walk(80, 'out').at(-1)).toBe('all');
  });

  it('earlier and later ends with the first and the last iteration', () => {
    const first = walk(480, 'earlier').length;
    expect(first).toBeLessThanOrEqual(100);
    expect(spanRange(walk({ from: 900, to: 1300 }, 'earlier').at(-1)!, LENGTH)).toEqual(
      {
        from: 0,
        to: 400,
      },
    );
    const part = { from: LENGTH - 900, to: LENGTH - 500 };
    expect(spanRange(walk(part, 'later').at(-1)!, LENGTH).to).toBe(LENGTH);
  });

  it('in a run of a few iterations leads nowhere', () => {
    for (const step of ['in', 'out', 'earlier', 'later'] as const) {
      expect(stepped('all', 30, step)).toBeUndefined();
    }
  });
});

it('a part has an axis of its own', () => {
  expect(spanAxis({ from: 10, to: 50 }, LENGTH)).toEqual({ min: 9.5, max: 49.5 });
});
