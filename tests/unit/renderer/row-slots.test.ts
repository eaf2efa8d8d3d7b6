/** Slots of the rows that are drawn of a long list. */
import { expect, test } from 'vitest';
import { RowSlots } from '../../../src/renderer/state/page/row-slots.ts';

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

test('rows keep their slots, and others take those that are free', () => {
  const slots = new RowSlots();
  expect(slots.of(range(0, 4))).toEqual([0, 1, 2, 3]);
  // Rows 0 and 1 go, 4 and 5 come.
  expect(slots.of(range(2, 6))).toEqual([2, 3, 0, 1]);
  expect(slots.of([2, 40, 41])).toEqual([2, 0, 1]);
  expect(slots.of([])).toEqual([]);
});

test('slots are all different and no more than rows were ever drawn at once', () => {
  const slots = new RowSlots();
  let before = new Map<number, number>();
  for (let step = 0; step < 500; step++) {
    const from = Math.abs(Math.round(300 * Math.sin(step * step)));
    const rows = range(from, from + 10 + (step % 7));
    const given = slots.of(rows);
    expect(new Set(given).size).toBe(rows.length);
    expect(Math.max(...given)).toBeLessThan(16 + 16);
    const now = new Map(rows.map((row, index) => [row, given[index]!]));
    for (const [row, slot] of now)
      if (before.has(row)) expect(slot).toBe(before.get(row));
    before = now;
  }
});
