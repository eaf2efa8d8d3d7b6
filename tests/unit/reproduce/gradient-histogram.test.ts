/** The measures of a histogram, against the elements that it was made of. */
import { expect, test } from 'vitest';
import { densityOf, shapeOf } from '../../../src/reproduce/gradient-histogram.ts';
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

test('a density is that of the elements, on the side where they are', () => {
  const elements = [...Array.from({ length: 6 }, () => -0.3), 0.3, 0.3, 0.01, -0.01];
  const density = densityOf(histogramOf([...elements, 0]), -8, 0);
  // Eight half octaves on either side, from 1/16 to 1, and what is closer.
  expect(density.map(({ x }) => Math.sign(x))).toEqual([
    ...Array.from({ length: 8 }, () => -1),
    0,
    ...Array.from({ length: 8 }, () => 1),
  ]);
  expect(density.map(({ x }) => x)).toEqual(
    density.map(({ x }) => x).toSorted((a, b) => a - b),
  );
  const width = 2 ** -1.5 - 2 ** -2;
  const [below, middle, above] = [3, 8, 13].map((index) => density[index]!);
  expect(below!.x).toBeCloseTo(-(2 ** -1.5 + 2 ** -2) / 2, 5);
  expect(below!.y).toBeCloseTo(0.6 / width, 3);
  expect(above!.y).toBeCloseTo(0.2 / width, 3);
  expect(middle).toEqual({ x: 0, y: 0.2 * 8 });
  expect(density.filter(({ y }) => y > 0)).toHaveLength(3);
});

test('a density has the area of its elements, and bins that a histogram lacks are empty', () => {
  const next = normal(3);
  const draws = Array.from({ length: 20_000 }, () => next());
  const points = densityOf(histogramOf(draws), -6, 6);
  const half = (points.length - 1) / 2;
  const widths = points.map((_, index) => {
    const octave = Math.abs(index - half) - 7;
    return index === half ? 2 * 2 ** -3 : 2 ** ((octave + 1) / 2) - 2 ** (octave / 2);
  });
  expect(points.reduce((sum, { y }, index) => sum + y * widths[index]!, 0)).toBeCloseTo(
    1,
    4,
  );
  const narrow = densityOf({ zeros: 0, first: 0, negative: [1], positive: [3] }, -2, 4);
  const filled = narrow.flatMap(({ y }, index) => (y > 0 ? [index] : []));
  expect(filled).toEqual([3, 9]);
  expect(densityOf(histogramOf([0]), -8, 0)).toEqual([]);
});

test('signs that have different numbers of bins', () => {
  const shape = shapeOf({ zeros: 0, first: 0, negative: [3], positive: [1, 0, 0, 4] })!;
  expect(shape.positive).toBeCloseTo(5 / 8);
  expect(shape.median).toBeCloseTo(Math.SQRT2);
});
