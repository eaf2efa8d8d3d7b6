import { expect, test } from 'vitest';
import { oddOne } from '../../../src/agent/exchange/odd-one.ts';

test.each([
  [[7, 8], 1, 0],
  [[7, 8, 8], 0, 1],
  [[7, 7, 9, 7], 2, 0],
  [[7, 8, 9], 1, 0],
])('of the models of ranks %j that of rank %i is the odd one', (marks, odd, usual) => {
  expect(oddOne(marks)).toEqual({ odd, usual });
});
