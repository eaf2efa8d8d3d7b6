import { describe, expect, it } from 'vitest';
import { split } from '../../../src/main/plan/recorded-steps.ts';
import {
  calibrate,
  replay,
  toldNetwork,
  wallOf,
  type Predicted,
  type RecordedStep,
} from '../../../src/shared/forecast/replay.ts';

/** Iterations of 10 ms on average, one of which waited for the machine. */
const STEPS: readonly RecordedStep[] = Array.from({ length: 40 }, (_, index) => ({
  iteration: 5 + index,
  own: 5 + (index % 3) / 10,
  compress: 1,
  exchange: index === 7 ? 30 : 3 + (index % 5) / 10,
  decompress: 0.5,
}));

const predicted = (
  bandwidth: number,
  { compress = 1e-3, decompress = 0.5e-3 } = {},
): Predicted => ({
  compress,
  decompress,
  terms: { bandwidth, latency: 0.2e-3, reduction: 0.1e-3 },
});

const OWN = predicted(2e-3);
const calibration = calibrate(STEPS, OWN);

describe('a replay', () => {
  it('under its own plan is the recording itself', () => {
    const { change, recorded, replayed, steps } = replay(STEPS, OWN, OWN, calibration);
    expect(steps).toEqual(STEPS);
    expect(replayed).toEqual(recorded);
    expect(change).toEqual({ mean: 0, low: 0, high: 0 });
  });

  it('takes longer where less bandwidth is predicted, and keeps what nobody explains', () => {
    const means = [0.5e-3, 2e-3, 8e-3, 80e-3].map(
      (bandwidth) =>
        replay(STEPS, OWN, predicted(bandwidth), calibration).replayed.mean,
    );
    expect(means).toEqual(means.toSorted((a, b) => a - b));
    const slow = replay(STEPS, OWN, predicted(8e-3), calibration).steps;
    const added = slow.map((step, index) => wallOf(step) - wallOf(STEPS[index]!));
    // The iteration that waited is no longer for it than the others are.
    expect(added[7]).toBeCloseTo(added[6]!, 9);
  });

  it('corrects the constant that dominates by what was observed', () => {
    // 3 ms and more were seen where 2.3 ms were predicted: β is larger than assumed.
    expect(calibration.network.bandwidth).toBeGreaterThan(1.2);
    expect(calibration.network.latency).toBe(1);
    expect(calibration.methods).toBeCloseTo(1, 9);
  });

  it('is never below nothing, whatever is predicted', () => {
    const nothing = {
      compress: 0,
      decompress: 0,
      terms: { bandwidth: 0, latency: 0, reduction: 0 },
    };
    for (const step of replay(STEPS, OWN, nothing, calibration).steps) {
      expect(Math.min(step.compress, step.decompress, step.exchange)).toBe(0);
    }
    const alone = replay(STEPS, nothing, OWN, calibrate(STEPS, nothing));
    expect(alone.change.mean).toBeGreaterThan(0);
  });

  it('is less certain the more the model adds', () => {
    const width = (bandwidth: number): number => {
      const { high, low } = replay(
        STEPS,
        OWN,
        predicted(bandwidth),
        calibration,
      ).change;
      return high - low;
    };
    expect(width(80e-3)).toBeGreaterThan(width(8e-3));
  });
});

describe('a replay elsewhere', () => {
  const slow = predicted(80e-3);

  it('does not correct a network whose constants are told', () => {
    // Seen: ten times what was predicted, mostly ranks that are late.
    const own = predicted(0.8e-3);
    const shown = calibrate(STEPS, own);
    expect(shown.network.bandwidth).toBeGreaterThan(2);
    const wall = (calibration: typeof shown): number =>
      replay(STEPS, own, slow, calibration).replayed.mean;
    const recorded = replay(STEPS, own, slow, shown).recorded.mean;
    expect(wall(toldNetwork(shown))).toBeCloseTo(recorded + 80 - 0.8, 6);
    expect(wall(shown)).toBeGreaterThan(recorded + 160);
  });

  it('of one rank exchanges nothing', () => {
    const { steps } = replay(STEPS, OWN, slow, calibrate(STEPS, OWN), {
      isAlone: true,
    });
    expect(steps.map(({ exchange }) => exchange)).toEqual(STEPS.map(() => 0));
  });
});

it('an iteration is split by its slowest rank, and its parts add up to its wall time', () => {
  const rank = (compute: number, wait: number) => ({
    wall: 10,
    overlapped: compute,
    phases: {
      data: 0,
      compute,
      compress: 1,
      send: 0,
      receive: 0,
      wait,
      reduce: 0,
      decompress: 0.5,
      apply: 0,
      other: 0,
    },
  });
  const records = [rank(4, 4.5), rank(6, 2.5)];
  expect(split(3, records, false).hidden).toBe(0);
  const step = split(3, records, true);
  expect(step).toEqual({
    iteration: 3,
    own: 6,
    compress: 1,
    exchange: 2.5,
    decompress: 0.5,
    hidden: 5,
  });
  expect(wallOf(step)).toBe(10);
});
