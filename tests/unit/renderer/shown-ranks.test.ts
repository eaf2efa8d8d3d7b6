import { expect, it } from 'vitest';
import { shownRanks } from '../../../src/renderer/state/runs/shown-ranks.ts';

const upTo = (ranks: number): readonly number[] =>
  Array.from({ length: ranks }, (_, rank) => rank);

it.each([
  { ranks: 3, needed: [], shown: [0, 1, 2] },
  { ranks: 24, needed: [], shown: [0, 1, 2, 3, 4, 5, 6, 7] },
  { ranks: 24, needed: [13], shown: [0, 1, 2, 3, 4, 5, 6, 13] },
  { ranks: 24, needed: [13, undefined], shown: [0, 1, 2, 3, 4, 5, 6, 13] },
  { ranks: 24, needed: [13, 13], shown: [0, 1, 2, 3, 4, 5, 6, 13] },
  { ranks: 24, needed: [5, 20], shown: [0, 1, 2, 3, 4, 5, 6, 20] },
  // A rank of the run that was shown before.
  { ranks: 2, needed: [7], shown: [0, 1] },
])('of $ranks ranks, with $needed in view: $shown', ({ ranks, needed, shown }) => {
  expect(shownRanks(upTo(ranks), undefined, needed)).toEqual(shown);
});

it('shows all ranks when asked to', () => {
  expect(shownRanks(upTo(24), 24, [13])).toEqual(upTo(24));
});

it('shows ranks of one machine alone, also of those that must be in view', () => {
  const own = [1, 3, 5, 7, 9];
  expect(shownRanks(own, 3, [4, 9])).toEqual([1, 3, 9]);
});
