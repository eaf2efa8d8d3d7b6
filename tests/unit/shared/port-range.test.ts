import { expect, test } from 'vitest';
import { portRange, portRangeSchema } from '../../../src/shared/machines/port-range.ts';

test.each(['20000-20001', '1024-65535'])('%s is a range of ports', (text) => {
  expect(portRangeSchema.safeParse(text).success).toBe(true);
});

test.each([
  '',
  '20000',
  '20100-20000',
  '20000-20000',
  '80-90',
  '20000-65536',
  '-1-5',
  'a-b',
  '20000 - 20100',
  '020000-20100',
])('“%s” is none', (text) => {
  expect(portRangeSchema.safeParse(text).success).toBe(false);
});

test('both ends belong to it', () => {
  expect(portRange('20000-20100')).toEqual({ first: 20_000, last: 20_100 });
});
