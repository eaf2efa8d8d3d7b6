/** What a judge's findings come to. */
import { expect, test } from 'vitest';
import { verdictOf } from '../../../src/reproduce/figure.ts';

test('a verdict needs a finding', () => {
  expect(() => verdictOf([])).toThrow('internal:');
});
