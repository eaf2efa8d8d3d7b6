import { expect, it } from 'vitest';
import { piecesOf, termText } from '../../../src/shared/words/terms.ts';

it('marks the first mention of each term, as it is written, and loses nothing', () => {
  const text = 'Density and fill-in of a fill-in';
  const pieces = piecesOf(text, ['fill-in', 'residual', 'density']);
  expect(pieces.map(({ text: piece }) => piece).join('')).toBe(text);
  expect(pieces.filter(({ term }) => term !== undefined)).toEqual([
    { text: 'Density', term: 'density' },
    { text: 'fill-in', term: 'fill-in' },
  ]);
  expect(piecesOf('', ['step'])).toEqual([]);
  expect(piecesOf('wait', ['step'])).toEqual([{ text: 'wait' }]);
});

it('says a definition as a sentence', () => {
  expect(termText('density')).toBe('Entries sent, divided by elements.');
});
