/** Rivals of a method: what they would keep of a gradient, against a sort of all its elements. */
import { expect, test } from 'vitest';
import {
  keptSquares,
  rivalsOf,
} from '../../../src/agent/worker/steps/rival-methods.ts';

const squaresOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value * value, 0);

test.each([
  ['of many magnitudes', 20_000, (i: number) => Math.sin(i) ** 9 * 1e-4],
  ['of few magnitudes', 997, (i: number) => (i % 3) - 1],
  ['of one element', 1, () => -3],
])('cosines of a gradient %s', (_, length, valueAt) => {
  const y = Float32Array.from({ length }, (__, i) => valueAt(i));
  const reference = squaresOf([...y]);
  const rivals = rivalsOf(keptSquares(y), reference);
  expect(rivals).toHaveLength(9);
  const largest = [...y].map(Math.abs).toSorted((a, b) => b - a);
  for (const { cosine, keeps, ratio } of rivals) {
    const kept =
      ratio === undefined
        ? [...y].map((value) => Math.sign(value))
        : largest.slice(0, Math.ceil(ratio * length));
    const scale = Math.sqrt(reference * squaresOf(kept));
    const oracle =
      ratio === undefined
        ? // Zeros have a sign, too.
          largest.reduce((sum, value) => sum + value, 0) / Math.sqrt(reference * length)
        : squaresOf(kept) / scale;
    expect(cosine, `${keeps} ${ratio}`).toBeCloseTo(oracle, 3);
  }
});

test('a gradient of zeros has no rivals, and neither has none or a broken one', () => {
  expect(rivalsOf(keptSquares(new Float32Array(5)), 0)).toEqual([]);
  expect(rivalsOf(keptSquares(new Float32Array(0)), 0)).toEqual([]);
  expect(rivalsOf(keptSquares(Float32Array.of(1, NaN)), NaN)).toEqual([]);
});
