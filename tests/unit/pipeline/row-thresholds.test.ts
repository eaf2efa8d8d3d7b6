/** Mean thresholds of activations, against rows whose order is plain to see. */
import { expect, test } from 'vitest';
import { meanThresholds } from '../../../src/agent/pipeline/row-thresholds.ts';

const meansOf = (values: readonly number[], width: number, skip = 0) =>
  Object.fromEntries(
    meanThresholds(Float32Array.from(values), { width, skip }).map(
      ({ mean, sparsity }) => [sparsity, mean],
    ),
  );

/** 1 … 100 in an order that is none, every second one negative. */
const row = Array.from({ length: 100 }, (_, i) => (((i * 37) % 100) + 1) * (-1) ** i);

test('a threshold is the k-th largest magnitude of a row', () => {
  expect(meansOf(row, 100)).toEqual({
    0.5: 51,
    0.75: 76,
    0.9: 91,
    0.95: 96,
    0.98: 99,
  });
});

test('rows have thresholds of their own, of which the mean is taken', () => {
  const larger = row.map((value) => 3 * value);
  expect(meansOf([...row, ...larger], 100)).toMatchObject({ 0.5: 102, 0.98: 198 });
  // Read as one row it has one.
  expect(meansOf([...row, ...larger], 200)[0.5]).not.toBe(102);
});

test('of one unit a row it is passed by all sparsities, of zeros it is 0', () => {
  expect(meansOf([-2, 4], 1)).toEqual({ 0.5: 3, 0.75: 3, 0.9: 3, 0.95: 3, 0.98: 3 });
  expect(meansOf([0, -0, 0, 0], 4)).toMatchObject({ 0.5: 0, 0.98: 0 });
});

test('units of a skip connection do not count', () => {
  const skip = [1000, -2000, 3000];
  const larger = row.map((value) => 3 * value);
  expect(meansOf([...row, ...skip, ...larger, ...skip], 103, 3)).toMatchObject({
    0.5: 102,
    0.98: 198,
  });
});
