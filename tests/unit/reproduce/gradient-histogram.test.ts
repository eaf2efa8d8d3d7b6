/** The measures of a histogram, against the elements that it was made of. */
import { expect, test } from 'vitest';
import { shapeOf } from '../../../src/reproduce/gradient-histogram.ts';
import type { Magnitudes } from '../../../src/shared/records/magnitudes.ts';
import { laplace, normal } from './draws.ts';

const FIRST = -60;
const BINS = 100;

/** Counts elements by the logarithm of their magnitude. */
function histogramOf(elements: readonly number[]): Magnitudes {
  const [negative, positive] = [
    new Array<number>(BINS).fill(0),
    new Array<number>(BINS).fill(0),
  ];
  let zeros = 0;
  for (const element of elements) {
    const bin = Math.floor(2 * Math.log2(Math.abs(element))) - FIRST;
    if (bin < 0) zeros++;
    else (element < 0 ? negative : positive)[bin]!++;
  }
  return { zeros, first: FIRST, negative, positive };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;

test.each([
  ['normal', normal, 0.683],
  ['Laplace’s', laplace, 0.757],
] as const)('%s distribution, of whatever width', (_, draws, within) => {
  for (const width of [1e-6, 1, 300]) {
    const next = draws(3);
    const elements = Array.from({ length: 50_000 }, () => width * next());
    const shape = shapeOf(histogramOf([...elements, 0, 0]))!;
    const squares = elements.map((element) => element ** 2);
    const deviation = Math.sqrt(
      squares.reduce((sum, square) => sum + square, 0) / elements.length,
    );
    expect(shape.deviation / deviation).toBeCloseTo(1, 1);
    expect(shape.within).toBeCloseTo(within, 1);
    expect(Math.abs(shape.within - within)).toBeLessThan(0.02);
    expect(shape.median / median(elements.map(Math.abs))).toBeCloseTo(1, 1);
    expect(shape.positive).toBeCloseTo(0.5, 1);
  }
});

test('one element, and none', () => {
  const shape = shapeOf(histogramOf([0.25]))!;
  expect(shape.positive).toBe(1);
  expect(shape.median).toBeGreaterThanOrEqual(0.25);
  expect(shape.median).toBeLessThan(0.36);
  expect(shapeOf(histogramOf([0, 0]))).toBeUndefined();
  expect(shapeOf({ zeros: 3, first: 0, negative: [], positive: [] })).toBeUndefined();
});

test('signs that have different numbers of bins', () => {
  const shape = shapeOf({ zeros: 0, first: 0, negative: [3], positive: [1, 0, 0, 4] })!;
  expect(shape.positive).toBeCloseTo(5 / 8);
  expect(shape.median).toBeCloseTo(Math.SQRT2);
});
