/** Quantities in a terminal. */
import { expect, test } from 'vitest';
import { milliseconds } from '../../../src/cli/text/quantities.ts';

test.each([
  [59_940, '59.9 s'],
  [59_960, '1 min 0 s'],
  [60_400, '1 min 0 s'],
  [119_400, '1 min 59 s'],
  [119_600, '2 min 0 s'],
  [3_599_900, '60 min 0 s'],
])('%d ms: %s', (time, text) => {
  expect(milliseconds(time)).toBe(text);
});
