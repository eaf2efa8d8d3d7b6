/** Which collectives are timed on larger vectors. */
import { expect, test } from 'vitest';
import { thatGoOn } from '../../../src/agent/probe/collective-timing.ts';

test('a slow collective does not keep the others from larger vectors', () => {
  const timed = ['ring', 'parameter-server', 'rabenseifner'];
  expect(thatGoOn(timed, [0.062, 0.31, 0.07], 4)).toEqual(['ring', 'rabenseifner']);
  expect(thatGoOn(timed, [0.02, 0.02, 0.03], 16)).toEqual(['ring', 'parameter-server']);
  expect(thatGoOn(timed, [0.2, 0.2, 0.2], 4)).toEqual([]);
});
