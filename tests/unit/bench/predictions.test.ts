/** Texts of the benchmark of the collectives about predictions, and the time that it measures. */
import { describe, expect, test } from 'vitest';
import type { CollectiveLine } from '../../../bench/collectives/outcome-lines.ts';
import { turnsWithin } from '../../../bench/collectives/prediction-section.ts';
import {
  predictionLines,
  predictionSummary,
  predictionTable,
} from '../../../bench/collectives/prediction-verdict.ts';

const MB = 2 ** 20;

const line = (more: Partial<CollectiveLine>, predicted: number): CollectiveLine => ({
  type: 'collective',
  section: 'predictions',
  ranks: 2,
  links: '1gbit',
  n: MB / 4,
  bytes: MB,
  transport: 'tcp',
  collective: 'ring',
  payload: 'dense',
  entries: MB / 4,
  ms: 10,
  p25: 9,
  p75: 11,
  algbw: 0.1,
  busbw: 0.1,
  wire: { payload: MB, framing: 64 },
  predicted: { ms: predicted, payload: MB },
  auto: false,
  ...more,
});

describe('predictions beside measurements', () => {
  const lines = predictionLines([
    line({ auto: true }, 11.5),
    line({ collective: 'rabenseifner' }, 8.4),
    // A mebibyte takes 8.389 ms at a gigabit a second.
    line({ collective: 'recursive-doubling' }, 8.38),
    line({ links: 'loopback' }, 1),
    line({ section: 'sweep' }, 1),
  ]);

  test('are off by their share of the time, and know the wire where there is one', () => {
    expect(lines.map(({ off }) => Number(off.toFixed(3)))).toEqual([
      0.15, -0.16, -0.162, -0.9,
    ]);
    const [first, , , loopback] = lines;
    expect(first!.wireMs).toBeCloseTo((8 * MB) / 1e6, 9);
    expect(loopback!.wireMs).toBeUndefined();
  });

  test('are counted: within 15 %, of what auto takes, below the wire', () => {
    const summary = predictionSummary(lines)!;
    expect(summary).toMatchObject({
      predictions: 4,
      within15: 0.25,
      autoWithin15: 1,
      belowWire: 1,
    });
    expect(summary.medianOff).toBeCloseTo(0.162, 9);
    const table = predictionTable(lines, summary);
    expect(table).toMatch(/^1gbit +2 +1M +ring \(auto\) +10\.0 ms +11\.5 ms +\+15 % /m);
    expect(table.match(/ !$/gm)).toHaveLength(1);
    expect(table).toContain(
      '25 % of 4 predictions within 15 %, of what auto takes 100 %',
    );
  });

  test('that are none, or none of auto’s, have no share', () => {
    expect(predictionSummary([])).toBeUndefined();
    const one = predictionLines([line({}, 10)]);
    const summary = predictionSummary(one)!;
    expect(summary.autoWithin15).toBeNull();
    expect(predictionTable(one, summary)).not.toContain('auto takes');
  });
});

describe('turns', () => {
  test.each([
    [1e-4, { rounds: 24, batch: 10 }],
    [0.5, { rounds: 10, batch: 1 }],
    [2, { rounds: 2, batch: 1 }],
    [30, { rounds: 2, batch: 1 }],
  ])('of algorithms that take %d s together: %j', (seconds, turns) => {
    expect(turnsWithin(seconds)).toEqual(turns);
  });
});
