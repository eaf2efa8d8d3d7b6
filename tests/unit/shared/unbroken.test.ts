import { expect, test } from 'vitest';
import { unbroken } from '../../../src/shared/words/unbroken.ts';

test.each([
  ['58 % of it', '58_% of it'],
  [
    'waits 2.74 ms a step, 311 µs in flight, 8 s in all',
    'waits 2.74_ms a step, 311_µs in flight, 8_s in all',
  ],
  ['1.36 MB, 16 B at 100 Mbit/s', '1.36_MB, 16_B at 100_Mbit/s'],
  ['2 stragglers of 4 ranks, 3 minutes', '2 stragglers of 4 ranks, 3 minutes'],
])('%s', (text, expected) => {
  expect(unbroken(text).replaceAll('\u00a0', '_')).toBe(expected);
});
