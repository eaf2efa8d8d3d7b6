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

test('what is left goes to figures that still fit, the shortest first, once each', () => {
  const budget = new QuickBudget(40 * MINUTE);
  for (const [figure, whole] of [
    ['long', 50],
    ['middle', 15],
    ['short', 12],
  ] as const) {
    budget.leaveOut({ figure, why: 'its first run took long' }, whole * MINUTE);
    budget.spend(MINUTE);
  }
  budget.leaveOut({ figure: 'busy', why: 'times decide it' });
  expect(budget.share).toBe(37 * MINUTE * 0.25);

  expect(budget.takeBack()).toBe('short');
  expect(budget.share).toBe(37 * MINUTE);
  budget.spend(13 * MINUTE);
  expect(budget.takeBack()).toBe('middle');
  // It takes longer than its first run had said.
  budget.spend(2 * MINUTE);
  budget.leaveOut({ figure: 'middle', why: 'it took longer' }, 20 * MINUTE);
  expect(budget.takeBack()).toBeUndefined();
  expect(budget.leftOut.map(({ figure }) => figure)).toEqual([
    'long',
    'busy',
    'middle',
  ]);
});

test('a figure that does not fit any more is not begun again', () => {
  const budget = new QuickBudget(10 * MINUTE);
  budget.leaveOut({ figure: 'a', why: '' }, 9 * MINUTE);
  budget.spend(2 * MINUTE);
  expect(budget.takeBack()).toBeUndefined();
  expect(budget.leftOut).toHaveLength(1);
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
