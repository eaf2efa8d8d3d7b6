import { expect, test } from 'vitest';
import { GrowingPause } from '../../../src/shared/async/growing-pause.ts';

const taken = (pauses: GrowingPause, count: number): readonly number[] =>
  Array.from({ length: count }, () => pauses.next());

test('each is twice the one before, up to the longest', () => {
  const pauses = new GrowingPause({ first: 100, longest: 500 });
  expect(taken(pauses, 5)).toEqual([100, 200, 400, 500, 500]);
  pauses.reset();
  expect(taken(pauses, 2)).toEqual([100, 200]);
});

test('a factor of its own, and no longest', () => {
  expect(taken(new GrowingPause({ first: 8, factor: 1.5 }), 4)).toEqual([
    8, 12, 18, 27,
  ]);
});

test('the first is not above the longest', () => {
  const pauses = new GrowingPause({ first: 100, longest: 30 });
  expect(taken(pauses, 2)).toEqual([30, 30]);
  pauses.reset();
  expect(pauses.next()).toBe(30);
});
