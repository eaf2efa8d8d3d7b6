/** What is thought of another machine's clock, whatever happens to segments and clocks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PeerClock } from '../../../src/agent/emulation/peer-clock.ts';
import { runs } from '../../harness/effort.ts';

/** The most that the estimate follows, per ms. */
const MOST_DRIFT = 200e-6;
/** Numbers of 10¹¹ ms have this grain, and a few of them are added. */
const GRAIN = 1e-4;

interface Segment {
  /** Since the one before, ms. */
  readonly gap: number;
  /** On its way, ms. */
  readonly transit: number;
}

/**
 * Segments between two machines, one of which has the true time: by how much too late each
 * seemed to have been put.
 */
function lateness(
  segments: readonly Segment[],
  clock: { readonly ahead: number; readonly drift: number },
): readonly number[] {
  const peer = (time: number): number => time * (1 + clock.drift) + clock.ahead;
  const estimate = new PeerClock();
  let putAt = 0;
  let arrived = 0;
  return segments.map(({ gap, transit }) => {
    putAt = Math.max(putAt + gap, arrived - transit);
    arrived = putAt + transit;
    const put = peer(putAt);
    return estimate.own(put, put, arrived) - putAt;
  });
}

const segments = fc.array(
  fc.record({
    gap: fc.double({ min: 0, max: 3000, noNaN: true }),
    transit: fc.oneof(fc.constant(0.1), fc.double({ min: 0.1, max: 500, noNaN: true })),
  }),
  { minLength: 1, maxLength: 100 },
);

test('with clocks that drift like quartzes no moment is before its time', () => {
  const clocks = fc.record({
    ahead: fc.double({ min: -1e11, max: 1e11, noNaN: true }),
    drift: fc.double({ min: -MOST_DRIFT / 2, max: MOST_DRIFT / 2, noNaN: true }),
  });
  fc.assert(
    fc.property(segments, clocks, (sent, clock) => {
      for (const [index, late] of lateness(sent, clock).entries()) {
        // The least that the network takes comes on top, and never more than it took.
        expect(late).toBeGreaterThanOrEqual(0.1 - GRAIN);
        expect(late).toBeLessThanOrEqual(sent[index]!.transit + GRAIN);
      }
    }),
    { numRuns: runs(200) },
  );
});

describe('a segment', () => {
  test('that comes undelayed makes up for all that came late before', () => {
    const late = lateness(
      [
        { gap: 0, transit: 400 },
        { gap: 1000, transit: 0.1 },
        { gap: 10, transit: 30 },
      ],
      { ahead: 1e8, drift: 0 },
    );
    expect(late[0]).toBeCloseTo(400, 3);
    expect(late[1]).toBeCloseTo(0.1, 3);
    // Delayed, but the one before has told: no more than clocks may have drifted since.
    expect(late[2]).toBeLessThan(0.1 + 50 * MOST_DRIFT + GRAIN);
  });

  test('of a clock that drifts for hours is as near as one of a clock that does not', () => {
    const hours = Array.from({ length: 20_000 }, (_, index) => ({
      gap: 500,
      transit: index % 3 === 0 ? 0.1 : 20,
    }));
    for (const drift of [-50e-6, 50e-6]) {
      const late = lateness(hours, { ahead: -1e8, drift });
      // Of two seconds: the estimate rises by more than the clocks have drifted.
      expect(Math.max(...late.slice(3))).toBeLessThan(0.1 + 2000 * 3e-4);
      expect(Math.min(...late)).toBeGreaterThan(0.1 - GRAIN);
    }
  });
});

test('a clock that jumped back is followed when nothing has confirmed it for ten seconds', () => {
  const estimate = new PeerClock();
  const lateAt = (time: number, ahead: number): number =>
    estimate.own(time + ahead, time + ahead, time + 0.1) - time;
  for (let time = 0; time < 20_000; time += 100) lateAt(time, 5000);
  // As when its machine was suspended for three seconds.
  expect(lateAt(20_000, 2000)).toBeLessThan(-2900);
  for (let time = 20_100; time < 31_000; time += 100) lateAt(time, 2000);
  expect(lateAt(31_000, 2000)).toBeCloseTo(0.1, 6);
  // One that jumped ahead at once.
  expect(lateAt(31_100, 60_000)).toBeCloseTo(0.1, 6);
});
