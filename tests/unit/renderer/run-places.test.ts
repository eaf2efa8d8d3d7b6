/** Colours of runs in comparisons: whose they are, and what becomes of them. */
import { expect, test } from 'vitest';
import {
  nextPlace,
  placesFrom,
  placesOf,
  remembered,
  styleOf,
} from '../../../src/renderer/state/page/run-places.ts';

test('runs keep their places, whoever else is compared, and get free ones', () => {
  const first = placesOf(['a', 'b', 'c'], {});
  expect(first).toEqual({ a: 0, b: 1, c: 2 });
  const known = remembered({}, first);
  expect(placesOf(['c', 'b'], known)).toEqual({ c: 2, b: 1 });
  expect(placesOf(['new', 'c'], known)).toEqual({ c: 2, new: 0 });
});

test('a place is lent only where one’s own is taken', () => {
  const known = { a: 0, d: 0 };
  const places = placesOf(['a', 'd'], known);
  expect(places).toEqual({ a: 0, d: 1 });
  expect(remembered(known, places)).toBe(known);
  expect(placesOf(['d'], known)).toEqual({ d: 0 });
});

test('all places look different, by colour, then by dashes', () => {
  const runs = Array.from({ length: 21 }, (_, index) => `run${index}`);
  const looks = Object.values(placesOf(runs, {})).map((place) => {
    const { dash, property } = styleOf(place);
    return `${property} ${dash.join()}`;
  });
  expect(new Set(looks).size).toBe(21);
  expect(styleOf(0).dash).toEqual([]);
  // More begin again, and none is without.
  expect(Object.keys(placesOf([...runs, 'more'], {}))).toHaveLength(22);
});

test('another colour is the next that nobody has', () => {
  expect(nextPlace([0, 1, 3], 0)).toBe(2);
  expect(nextPlace([0, 1], 1)).toBe(2);
});

test('what is stored is bounded, and damage in it is left out', () => {
  const many = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`run${index}`, 1]),
  );
  const all = remembered(many, { newest: 4 });
  expect(Object.keys(all)).toHaveLength(500);
  expect([all['newest'], all['run0'], all['run1']]).toEqual([4, undefined, 1]);
  expect(placesFrom({ a: 3, b: -1, c: 'red', d: 99, e: 1.5 })).toEqual({ a: 3 });
  expect([placesFrom(null), placesFrom('x')]).toEqual([{}, {}]);
});
