import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assignRanks, placesOf } from '../../../src/shared/machines/rank-assignment.ts';

test('every rank is on one node, in order, and shares differ by one at most', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 9 }),
      (ranks, count) => {
        const nodes = Array.from({ length: count }, (_, node) => node);
        const shares = assignRanks(ranks, nodes);
        expect(shares.flatMap(([, share]) => share)).toEqual(
          Array.from({ length: ranks }, (_, rank) => rank),
        );
        const sizes = shares.map(([, share]) => share.length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(shares).toHaveLength(Math.min(ranks, count));
        expect(shares[0]![0]).toBe(0);
        const places = placesOf(shares);
        for (const [node, share] of shares) {
          expect(share.map((rank) => places[rank])).toEqual(share.map(() => node));
        }
        expect(places).toHaveLength(ranks);
      },
    ),
  );
});
