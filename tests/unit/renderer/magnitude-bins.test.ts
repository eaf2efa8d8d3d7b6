/** Two histograms on one axis: every element of both is in a bin, at its magnitude. */
import { expect, test } from 'vitest';
import { magnitudesOf } from '../../../src/agent/worker/steps/magnitude-histogram.ts';
import { magnitudeBins, sizeOf } from '../../../src/renderer/charts/magnitude-bins.ts';

test('bins span both, with the share of each vector in each', () => {
  const uncompressed = Float32Array.of(0, 1e-3, -1e-3, 0.5, -4, 0, 0, 0);
  const applied = uncompressed.map((value) => (Math.abs(value) > 0.1 ? 8 * value : 0));
  const bins = magnitudeBins(magnitudesOf(uncompressed), magnitudesOf(applied));
  expect(bins[0]!.low).toBeLessThanOrEqual(1e-3);
  expect(bins.at(-1)!.low).toBe(32);
  for (const [at, { low }] of bins.entries()) {
    if (at > 0) expect(low).toBe(bins[at - 1]!.high);
  }
  const shareOf = (values: Float32Array, low: number, high: number): number =>
    values.filter((value) => Math.abs(value) >= low && Math.abs(value) < high).length /
    8;
  for (const bin of bins) {
    const { high, low } = bin;
    expect(bin.uncompressed).toBe(shareOf(uncompressed, low, high));
    expect(bin.applied).toBe(shareOf(applied, low, high));
  }
  expect(bins.reduce((sum, bin) => sum + bin.uncompressed, 0)).toBe(0.5);
  expect(sizeOf(magnitudesOf(applied))).toBe(8);
});

test('a vector of zeros has no bins of its own', () => {
  const zeros = magnitudesOf(new Float32Array(4));
  expect(magnitudeBins(zeros, zeros)).toEqual([]);
  const one = magnitudesOf(Float32Array.of(0, 0, 0, 2));
  expect(magnitudeBins(one, zeros)).toEqual([
    { low: 2, high: 2 * Math.SQRT2, uncompressed: 0.25, applied: 0 },
  ]);
});
