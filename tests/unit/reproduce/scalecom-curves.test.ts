import { expect, test } from 'vitest';
import { lossCurves } from '../../../src/reproduce/figures/scalecom-curves.ts';
import { FNN3, LSTM } from '../../../src/reproduce/figures/scalecom-models.ts';
import { scaleCom } from '../../../src/reproduce/figures/scalecom-training.ts';
import { Sweep, type MeasuredRun } from '../../../src/reproduce/sweep.ts';

const COMPRESSED = scaleCom('scalecom', 'ScaleCom', 1);

/** Runs of two seeds, whose curves have these values at these iterations. */
const runs = (
  id: string,
  xs: readonly number[],
  ...bySeed: readonly (readonly number[])[]
): readonly MeasuredRun[] =>
  bySeed.map((ys, seed) => ({
    case: id,
    seed,
    values: {},
    curve: xs.map((x, index) => ({ x, y: ys[index]! })),
  }));

test('a curve is behind uncompressed training with the same seed, in the direction of its measure', () => {
  const sweep = new Sweep([
    ...runs('fnn3-none', [600, 750, 1500], [0.4, 0.5, 0.8], [0.4, 0.6, 0.9]),
    ...runs('fnn3-scalecom', [600, 750, 1500], [0.1, 0.5, 0.76], [0.1, 0.54, 0.9]),
    ...runs('lstm-none', [1000, 2000], [2, 1.6], [2, 1.5]),
    ...runs('lstm-scalecom', [1000, 2000], [2.2, 1.6], [2.4, 1.35]),
  ]);
  const { series } = lossCurves(sweep, [FNN3, LSTM], [COMPRESSED]);
  expect(series.map(({ name }) => name)).toEqual(['fnn3', 'lstm']);
  const [accuracy, perplexity] = series.map(({ points }) =>
    points.map(({ x, y, low, high }) => [x, y, low, high].map((v) => +v.toFixed(6))),
  );
  expect(accuracy).toEqual([
    [50, 5, 0, 10],
    [100, 2.5, 0, 5],
  ]);
  expect(perplexity).toEqual([
    [50, 15, 10, 20],
    [100, -5, -10, 0],
  ]);
});

test('a measurement that uncompressed training has not is left out', () => {
  const sweep = new Sweep([
    ...runs('fnn3-none', [750], [0.5], [0.6]),
    ...runs('fnn3-scalecom', [750, 1500], [0.5, 0.76], [0.54, 0.9]),
  ]);
  const [curve] = lossCurves(sweep, [FNN3], [COMPRESSED]).series;
  expect(curve!.points.map(({ x }) => x)).toEqual([50]);
});

test('curves of several methods have their names', () => {
  const other = scaleCom('filtered', 'filtered', 0.1);
  const sweep = new Sweep(
    ['none', 'scalecom', 'filtered'].flatMap((id) => runs(`fnn3-${id}`, [150], [0.5])),
  );
  const { series } = lossCurves(sweep, [FNN3], [COMPRESSED, other]);
  expect(series.map(({ name }) => name)).toEqual(['fnn3, ScaleCom', 'fnn3, filtered']);
});
