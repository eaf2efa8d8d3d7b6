/** The chart of A2SGD's Figure 1: histograms at the end of some epochs, of runs that have them. */
import { expect, test } from 'vitest';
import { a2sgdFigure1 } from '../../../src/reproduce/figures/a2sgd-figure-1.ts';
import { Sweep, type MeasuredRun } from '../../../src/reproduce/sweep.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

/** One run's records: from epoch to epoch more elements are in the inner of two bins. */
const records = Array.from({ length: 30 }, (_, epoch) => ({
  type: 'comparison',
  iteration: 63 * (epoch + 1) - 1,
  uncompressed: {
    zeros: 5,
    first: -20,
    negative: [10 + epoch, 60 - epoch],
    positive: [10 + epoch, 20 - epoch / 2],
  },
})) as unknown as readonly RunRecord[];

const runsOf = (measured: Pick<MeasuredRun, 'curve' | 'curves' | 'values'>) =>
  a2sgdFigure1.seeds.map((seed): MeasuredRun => ({ ...measured, case: 'fnn3', seed }));

test('histograms of four epochs are drawn, and what a normal distribution would be', () => {
  const measured = a2sgdFigure1.measure(records);
  expect(Object.keys(measured.curves!)).toEqual([
    ...['epoch 1', 'epoch 10', 'epoch 20', 'epoch 30'],
  ]);
  const chart = a2sgdFigure1.chart(new Sweep(runsOf(measured)));
  const names = chart.series.map(({ name }) => name);
  expect(names).toEqual([
    ...['epoch 1', 'epoch 10', 'epoch 20', 'epoch 30'],
    'normal, of the same deviation',
  ]);
  const [first, , , last, normal] = chart.series.map(({ points }) => points);
  expect(first!.map(({ x }) => Math.sign(x))).toEqual([-1, -1, 1, 1]);
  // 100 elements in all: 60, 10, 10 and 20 of them, by percent per 0.001 of half octaves from 2⁻¹⁰.
  const [inner, outer] = [Math.SQRT2 - 1, 2 - Math.SQRT2].map(
    (width) => width * 2 ** -10 * 1000,
  );
  const expected = [60 / outer!, 10 / inner!, 10 / inner!, 20 / outer!];
  for (const [index, { y }] of first!.entries())
    expect(y).toBeCloseTo(expected[index]!, 2);
  expect(last![1]!.y).toBeGreaterThan(first![1]!.y);
  // A normal distribution of this deviation is highest at its middle, on either side alike.
  expect(normal![1]!.y).toBeCloseTo(normal![2]!.y, 6);
  expect(normal![1]!.y).toBeGreaterThan(normal![0]!.y);
  expect(a2sgdFigure1.judge(new Sweep(runsOf(measured))).parts).toHaveLength(3);
});

test('runs of earlier versions, or some of them, have medians alone', () => {
  const { curve, curves, values } = a2sgdFigure1.measure(records);
  const earlier = Object.fromEntries(
    Object.entries(values).filter(([name]) => name !== 'deviation'),
  );
  const old = runsOf({ curve, values: earlier });
  const mixed = [...old.slice(1), ...runsOf({ curve, curves, values }).slice(0, 1)];
  for (const runs of [old, mixed]) {
    const chart = a2sgdFigure1.chart(new Sweep(runs));
    expect(chart.series.map(({ name }) => name)).toEqual(['FNN-3']);
    expect(chart.series[0]!.points).toHaveLength(30);
  }
});
