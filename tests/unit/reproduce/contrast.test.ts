/** What counts as a clear difference between two cases. */
import { expect, test } from 'vitest';
import {
  allHold,
  below,
  contrast,
  faster,
  ofEach,
} from '../../../src/reproduce/contrast.ts';
import type { Outcome } from '../../../src/reproduce/figure.ts';
import { ratios } from '../../../src/reproduce/sweep.ts';

test.each([
  // Pairs that all differ by the same are clear, however far apart the pairs are.
  [[1, 20, 300], [2, 21, 301], -1, 0, 'below'],
  [[4, 5, 6], [1, 2, 3], 3, 0, 'above'],
  // Differences of −3, −4 and −5: the mean of −4 exceeds the spread of 2.
  [[1, 1, 1], [4, 5, 6], -4, 2, 'below'],
  // Differences of 1, −1 and 3: the mean of 1 is within the spread of 4.
  [[2, 1, 5], [1, 2, 2], 1, 4, 'unclear'],
  // As large as its spread is not larger.
  [[0, 0], [1, 3], -2, 2, 'unclear'],
  [[7, 7], [7, 7], 0, 0, 'unclear'],
])('%j and %j', (a, b, effect, spread, position) => {
  expect(contrast(a, b)).toEqual({ effect, spread, a: position });
});

test('that a is below b holds, fails or is unclear', () => {
  expect(below([1, 1], [2, 2])).toBe('holds');
  expect(below([2, 2], [1, 1])).toBe('fails');
  expect(below([1, 9], [2, 2])).toBe('unclear');
});

test('times are compared by their ratios', () => {
  // Differences of −1, −100 and −500 have a larger spread than mean; each is half.
  const [fast, slow] = [
    [1, 100, 500],
    [2, 200, 1000],
  ];
  expect(below(fast, slow)).toBe('unclear');
  expect(faster(fast, slow)).toBe('holds');
  expect(faster(slow, fast)).toBe('fails');
  expect(faster([1, 8], [2, 2])).toBe('unclear');
  expect(ratios(slow, fast)).toEqual([2, 2, 2]);
});

test('a statement of parts fails with one of them and holds with all', () => {
  expect(allHold(['holds', 'holds'])).toBe('holds');
  expect(allHold(['holds', 'unclear', 'fails'])).toBe('fails');
  expect(allHold(['holds', 'unclear'])).toBe('unclear');
  expect(allHold([])).toBe('unclear');
});

test('what is no pairs is a bug', () => {
  expect(() => contrast([1, 2], [1])).toThrow('internal: 2 and 1 values');
  expect(() => contrast([1], [1])).toThrow('internal: 1 and 1 values');
});

test('times are compared by their ratios', () => {
  // 40, 10 and 25 times as long: the mean of the differences is less than their spread.
  expect(below([1, 1, 1], [40, 10, 25])).toBe('unclear');
  expect(faster([1, 1, 1], [40, 10, 25])).toBe('holds');
  expect(faster([4, 4], [1, 1])).toBe('fails');
});

test('a statement of several cases fails with one, holds with all, and says for which not', () => {
  const part = (name: string, outcome: Outcome) => ({ name, outcome });
  expect(ofEach('so it is', [part('a', 'holds'), part('b', 'holds')])).toEqual({
    text: 'so it is',
    outcome: 'holds',
  });
  expect(ofEach('so it is', [part('a', 'holds'), part('b', 'unclear')])).toEqual({
    text: 'so it is (unclear: b)',
    outcome: 'unclear',
  });
  expect(
    ofEach('so it is', [part('a', 'fails'), part('b', 'unclear'), part('c', 'fails')]),
  ).toEqual({ text: 'so it is (fails: a, c)', outcome: 'fails' });
});
