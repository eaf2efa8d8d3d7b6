import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binWidth } from '../../../src/shared/numbers/bin-width.ts';
import { exponentialAverage } from '../../../src/renderer/charts/exponential-average.ts';
import { median, quantile } from '../../../src/shared/numbers/quantile.ts';

const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });

describe('the debiased moving average', () => {
  it('of a constant is the constant from the first value on', () => {
    fc.assert(
      fc.property(value, fc.double({ min: 0, max: 0.999, noNaN: true }), (c, decay) => {
        for (const average of exponentialAverage(Array(20).fill(c), undefined, decay)) {
          expect(Math.abs(average - c)).toBeLessThanOrEqual(
            1e-9 * Math.max(1, Math.abs(c)),
          );
        }
      }),
    );
  });

  it('is the weighted mean of the past, weights falling by the decay', () => {
    const [, , third] = exponentialAverage([1, 2, 4], undefined, 0.5);
    expect(third).toBeCloseTo((4 + 2 * 0.5 + 1 * 0.25) / 1.75, 12);
  });

  it('of a bin of c iterations is that of c equal values', () => {
    const binned = exponentialAverage([1, 5], [3, 4], 0.9);
    const single = exponentialAverage([1, 1, 1, 5, 5, 5, 5], undefined, 0.9);
    expect(binned[1]).toBeCloseTo(single[6]!, 12);
  });

  it('carries on over what was not observed', () => {
    const averages = exponentialAverage([NaN, 2, NaN, 4], undefined, 0.5);
    expect(averages[0]).toBeNaN();
    expect(averages[2]).toBe(2);
    expect(averages[3]).toBeCloseTo((4 + 2 * 0.5) / 1.5, 12);
  });
});

describe('quantiles', () => {
  it('lie between neighbours, whatever the order', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(quantile([10, 20], 0.25)).toBe(12.5);
    expect(quantile([5, NaN, 7], 1)).toBe(7);
    expect(median([NaN])).toBeUndefined();
    // Numbers are compared as numbers: 9 comes before 10.
    expect(median([10, 9, 100])).toBe(10);
  });
});

describe('bin widths', () => {
  it('are the smallest power of two that fits, aligned anywhere', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e7 }),
        fc.integer({ min: 2, max: 3000 }),
        fc.nat(10_000),
        (span, bins, from) => {
          const width = binWidth(span, bins);
          expect(Math.log2(width) % 1).toBe(0);
          const first = Math.floor(from / width);
          const last = Math.floor((from + span - 1) / width);
          expect(last - first + 1).toBeLessThanOrEqual(bins);
          if (width > 1)
            expect(Math.ceil(span / (width / 2)) + 1).toBeGreaterThan(bins);
        },
      ),
    );
  });
});
