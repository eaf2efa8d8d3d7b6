/** A program's traced steps on the clock of their rank, whatever the machine's clock says. */
import { describe, expect, it } from 'vitest';
import { ProgramClock } from '../../../src/agent/worker/steps/program-spans.ts';

const { timeOrigin } = performance;

/** A step from a moment on, which had its gradient after 5 ms and the average after 9. */
const step = (begin: number, wall = 12) => ({
  at: timeOrigin + begin,
  wall,
  apply: 1,
  lr: 0.1,
  trace: {
    spans: [['forward', 0, 5e6] as ['forward', number, number]],
    wall: 0,
    dropped: 0,
    sums: [],
    met: [],
    exchange: [5e6, 9e6] as [number, number],
  },
});

/** Moments of its exchange as the rank has seen them, each message after half a millisecond. */
const seen = (begin: number) => ({
  complete: begin + 5.5,
  averaging: begin + 8.5,
});

describe('a traced step', () => {
  it('begins when the program says', () => {
    const spans = new ProgramClock().spansOf(step(1000), seen(1000))!;
    expect(spans.begin).toBeCloseTo(1000, 3);
    expect(spans).toMatchObject({ wall: 12, dropped: 0, spans: [['forward', 0, 5e6]] });
  });

  it.each([-40, 40])('is where its exchange was if the clock was set by %d s', (s) => {
    const told = step(1000 + 1000 * s);
    const { begin } = new ProgramClock().spansOf(told, seen(1000))!;
    expect(Math.abs(begin - 1000)).toBeLessThan(0.51);
  });

  it('begins when the one before ended', () => {
    const clock = new ProgramClock();
    const first = clock.spansOf(step(1000), seen(1000))!;
    const second = clock.spansOf(step(1012.04), seen(1012))!;
    expect(second.begin).toBe(first.begin + 12);
    // Others lie between them.
    clock.spansOf({ at: 0, wall: 12, apply: 1, lr: 0.1 }, seen(1024));
    const later = clock.spansOf(step(1036.04), seen(1036))!;
    expect(later.begin).toBeCloseTo(1036.04, 3);
  });

  it('is none if it was not told with its spans', () => {
    const untraced = { ...step(1000), trace: undefined };
    expect(new ProgramClock().spansOf(untraced, seen(1000))).toBeUndefined();
  });
});
