/**
 * The embedded set must be worth training on: out of reach for a linear model, within
 * reach of the quickstart.
 */
import { expect, test } from 'vitest';
import { digits } from '../../src/agent/training/datasets/digits.ts';
import { bestLinearAccuracy } from './linear-classifier.ts';
import { trainTogether } from '../unit/training/train-together.ts';

test('a linear model trained to its end stays under 92 %', async () => {
  const { train, test } = await digits.open({ rank: 0, world: 1 });
  const reached = [0.1, 0.3, 0.8].map((rate) =>
    bestLinearAccuracy(train, test, { rate, epochs: 12 }),
  );
  for (const accuracy of reached) {
    expect(accuracy).toBeLessThan(0.92);
    // Also proof that the linear model was trained: chance would be 10 %.
    expect(accuracy).toBeGreaterThan(0.85);
  }
});

test('FNN-3 passes 95 % within 400 iterations at batch 4×32', async () => {
  const { accuracy, loss } = await trainTogether({
    dataset: 'digits',
    world: 4,
    batchPerRank: 32,
    lr: 0.05,
    iterations: 400,
  });
  expect(accuracy).toBeGreaterThan(0.95);
  expect(loss).toBeLessThan(0.2);
});
