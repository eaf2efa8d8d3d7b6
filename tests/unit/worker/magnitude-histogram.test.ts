/** Magnitudes of a gradient, counted from bits, against logarithms. */
import { expect, test } from 'vitest';
import { magnitudesOf } from '../../../src/agent/worker/steps/magnitude-histogram.ts';
import { edgeOf } from '../../../src/shared/records/magnitudes.ts';

test.each([1e-20, 1e-4, 1, 3e20])('of values around %d', (scale) => {
  const values = Float32Array.from(
    { length: 5000 },
    (_, i) => scale * Math.sin(i * i) ** 3,
  );
  const found = magnitudesOf(values);
  const binOf = (value: number): number =>
    Math.floor(2 * Math.log2(Math.abs(value)) - found.first);
  for (const [counts, sign] of [
    [found.negative, -1],
    [found.positive, 1],
  ] as const) {
    const own = [...values].filter((value) => Math.sign(value) === sign);
    for (const [bin, count] of counts.entries()) {
      expect(own.filter((value) => binOf(value) === bin)).toHaveLength(count);
    }
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(own.length);
  }
  // The bins at both ends have some.
  for (const end of [0, -1]) {
    expect(found.negative.at(end)! + found.positive.at(end)!).toBeGreaterThan(0);
  }
});

test('an edge belongs to the bin above it', () => {
  for (const edge of [1, 2, 2 ** -126, 2 ** 127]) {
    const found = magnitudesOf(Float32Array.of(edge));
    expect([edgeOf(found, 0), found.positive]).toEqual([edge, [1]]);
  }
  const below = magnitudesOf(Float32Array.of(Math.fround(Math.SQRT2)));
  expect([below.first, below.positive]).toEqual([0, [1]]);
  const above = magnitudesOf(Float32Array.of(1.4142137));
  expect([above.first, above.positive]).toEqual([1, [1]]);
});

test('zeros of both signs and subnormal numbers are zeros', () => {
  expect(magnitudesOf(Float32Array.of(0, -0, 1e-40, -1e-45))).toMatchObject({
    zeros: 4,
    negative: [],
    positive: [],
  });
  expect(magnitudesOf(new Float32Array(0)).zeros).toBe(0);
});
