import { describe, expect, it } from 'vitest';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import {
  describeEffect,
  describeForeseen,
  lacksIterations,
  switchEffect,
} from '../../../src/shared/verdict/switch-effect.ts';
import { iterationRecord } from './records.ts';

/** 8 ms and 1.2 MB before the fence, 5 ms and 48 kB after it, 90 ms at the fence itself. */
function switched(fence: number, length: number, ranks = 2): RecentIterations {
  const recent = new RecentIterations(ranks, 512);
  for (let iteration = 0; iteration < length; iteration++) {
    for (let rank = 0; rank < ranks; rank++) {
      const compute = iteration === fence ? 90 : iteration < fence ? 8 : 5;
      recent.add(
        iterationRecord({
          rank,
          iteration,
          phases: { compute },
          wireSent: iteration <= fence ? 1_200_000 : 48_000,
        }),
      );
    }
  }
  return recent;
}

describe('the effect of a switch', () => {
  it('compares medians of fifty iterations on each side, without the fence’s own', () => {
    const effect = switchEffect(switched(100, 300), { fence: 100 })!;
    expect(effect).toEqual({
      before: { exchanges: 50, wall: 8, wireSent: 1_200_000 },
      after: { exchanges: 50, wall: 5, wireSent: 48_000 },
      change: { mean: -3, low: -3, high: -3 },
      settled: true,
    });
    expect(describeEffect(effect)).toBe(
      'wall 8.00 ms → 5.00 ms (−3.00 ms to −3.00 ms), wire bytes 1.20 MB → 48.0 kB',
    );
    expect(describeForeseen({ step: 4, low: 3, high: 6 }, effect)).toBe(
      'predicted 4.00 ms (3.00 ms–6.00 ms), measured 5.00 ms: 25.0 % more, within its interval',
    );
    expect(describeForeseen({ step: 10, low: 9, high: 11 }, effect)).toContain(
      '50.0 % less, outside its interval',
    );
  });

  it('waits for evidence on both sides', () => {
    expect(switchEffect(switched(100, 105), { fence: 100 })).toBeUndefined();
    expect(switchEffect(switched(100, 106), { fence: 100 })!.settled).toBe(false);
    expect(switchEffect(switched(3, 100), { fence: 3 })).toBeUndefined();
  });

  it('takes iterations from one exchange to the next together', () => {
    const recent = new RecentIterations(1, 512);
    for (let iteration = 0; iteration < 88; iteration++) {
      // 1 ms alone, 9 with an exchange; a quarter of the bytes from the fence on.
      const exchanges = iteration % 8 === 7;
      recent.add(
        iterationRecord({
          ...{ rank: 0, iteration, phases: { compute: exchanges ? 9 : 1 } },
          wireSent: exchanges ? (iteration < 40 ? 800 : 200) : 0,
        }),
      );
    }
    // Five exchanges on each side, without the one that follows the fence.
    expect(switchEffect(recent, { fence: 40, every: 8 })).toEqual({
      before: { exchanges: 5, wall: 2, wireSent: 100 },
      after: { exchanges: 5, wall: 2, wireSent: 25 },
      change: { mean: 0, low: 0, high: 0 },
      settled: false,
    });
    expect(switchEffect(recent, { fence: 48, every: 8 })).toBeUndefined();
  });

  it('stays between the neighbouring fences', () => {
    const recent = switched(100, 300);
    const effect = switchEffect(recent, { fence: 120, previous: 100, next: 140 })!;
    expect(effect.before.exchanges).toBe(19);
    expect(effect.before.wall).toBe(5);
    expect(effect.after.exchanges).toBe(19);
    expect(effect.settled).toBe(true);
  });

  it('is not computed from thinned history, which a page that opens the run later reads', () => {
    const whole = switched(100, 300);
    expect(lacksIterations(whole, { fence: 100 })).toBe(false);
    const thinned = new RecentIterations(2, 512);
    for (let iteration = 0; iteration < 300; iteration += 4) {
      for (const rank of [0, 1]) {
        // Slower than those that were left out: another median.
        thinned.add(iterationRecord({ rank, iteration, phases: { compute: 20 } }));
      }
    }
    expect(lacksIterations(thinned, { fence: 100 })).toBe(true);
    expect(switchEffect(thinned, { fence: 100 })).toBeUndefined();
  });

  it('lacks nothing that has not happened yet, nor what other fences leave out', () => {
    expect(lacksIterations(switched(100, 120), { fence: 100 })).toBe(false);
    const late = new RecentIterations(1, 512);
    for (let iteration = 110; iteration < 160; iteration++)
      late.add(iterationRecord({ rank: 0, iteration }));
    expect(lacksIterations(late, { fence: 120 })).toBe(true);
    expect(lacksIterations(late, { fence: 120, previous: 109 })).toBe(false);
    expect(lacksIterations(late, { fence: 300 })).toBe(false);
  });

  it('leaves out iterations that not all ranks have reported', () => {
    const recent = switched(50, 60);
    recent.add(iterationRecord({ rank: 0, iteration: 60, phases: { compute: 500 } }));
    expect(switchEffect(recent, { fence: 50 })!.after).toMatchObject({
      exchanges: 9,
      wall: 5,
    });
  });
});
