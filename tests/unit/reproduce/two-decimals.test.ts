/** Differences in tables. */
import { expect, test } from 'vitest';
import { signedPercent, twoDecimals } from '../../../src/reproduce/two-decimals.ts';

test.each([
  [1.25, '+1.25 %', '1.25'],
  [-0.5, '−0.50 %', '-0.50'],
  [-0.006, '−0.01 %', '-0.01'],
  [-0.004, '0.00 %', '0.00'],
  [0.004, '0.00 %', '0.00'],
  [-0, '0.00 %', '0.00'],
])('%d has a sign only with digits: %s', (value, percent, plain) => {
  expect(signedPercent(value)).toBe(percent);
  expect(twoDecimals(value)).toBe(plain);
});
