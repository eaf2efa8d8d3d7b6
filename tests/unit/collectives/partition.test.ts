import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedRanks, rounds } from '../../../src/agent/collectives/folding.ts';
import { part } from '../../../src/agent/collectives/partition.ts';

test('parts are contiguous, of equal size but for the last, and cover everything', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.integer({ min: 1, max: 20 }), (length, parts) => {
      const all = Array.from({ length: parts }, (_, index) =>
        part({ offset: 64, length }, parts, index),
      );
      let offset = 64;
      for (const [index, { offset: start, length: size }] of all.entries()) {
        expect(start).toBe(offset);
        if (index < parts - 1) expect(size).toBe(Math.floor(length / parts));
        offset += 4 * size;
      }
      expect(offset).toBe(64 + 4 * length);
    }),
  );
});

test.each([
  [1, 0, 0],
  [2, 1, 0],
  [3, 1, 1],
  [4, 2, 0],
  [5, 2, 1],
  [7, 2, 3],
  [8, 3, 0],
  [9, 3, 1],
  [1024, 10, 0],
])('%d ranks: %d rounds, %d pairs fold', (ranks, logarithm, folded) => {
  expect([rounds(ranks), foldedRanks(ranks)]).toEqual([logarithm, folded]);
});
