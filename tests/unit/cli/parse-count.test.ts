import { expect, test } from 'vitest';
import { countBetween } from '../../../src/cli/text/parse-count.ts';

test.each(['1e3', '0x10', '1.5', '-1', '0', '11', '', ' 2', 'NaN', '٣'])(
  '%j is no count from 1 to 10',
  (text) => {
    expect(() => countBetween(1, 10)(text)).toThrow(
      'It must be a whole number from 1 to 10.',
    );
  },
);

test('a count is read', () => {
  expect(countBetween(1, 10)('10')).toBe(10);
});
