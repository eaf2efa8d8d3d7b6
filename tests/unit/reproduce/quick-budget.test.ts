import { expect, test } from 'vitest';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { projected, QuickBudget, workOf } from '../../../src/reproduce/quick-budget.ts';

const MINUTE = 60_000;

test('all figures together take less than half an hour, however long each would take', () => {
  const budget = new QuickBudget();
  let spent = 0;
  for (let figure = 0; figure < 100; figure++) {
    const { share } = budget;
    expect(share).toBeGreaterThan(0);
    budget.spend(share);
    spent += share;
  }
  expect(spent).toBeLessThan(30 * MINUTE);
  // The first may take minutes, so that most are made whole.
  expect(new QuickBudget().share).toBeGreaterThan(5 * MINUTE);
});

test('what was overspent is gone, and no more', () => {
  const budget = new QuickBudget(4 * MINUTE);
  expect(budget.share).toBe(MINUTE);
  budget.spend(10 * MINUTE);
  expect(budget.share).toBe(0);
});

test('all runs take as long as those that were made', () => {
  expect(projected(30_000, 2, 50)).toBe(750_000);
  expect(projected(30_000, 50, 50)).toBe(30_000);
});

test('the work of figures is known before: a table of bits is less than trainings', () => {
  const work = (id: string): number =>
    workOf(plannedRuns(figures.find((figure) => figure.id === id)!));
  expect(work('a2sgd-table-2')).toBeLessThan(work('scalecom-table-2') / 100);
});
