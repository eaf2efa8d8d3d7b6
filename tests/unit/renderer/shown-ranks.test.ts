import { expect, it } from 'vitest';
import { shownRanks } from '../../../src/renderer/state/runs/shown-ranks.ts';

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
  expect(shownRanks(ranks, undefined, needed)).toEqual(shown);
});

it('shows all ranks when asked to', () => {
  expect(shownRanks(24, 24, [13])).toEqual(Array.from({ length: 24 }, (_, i) => i));
});
