/** The pure parts of the compression benchmark: numbers as they are typed, its vectors. */
import { describe, expect, it } from 'vitest';
import { thinned } from '../../../bench/compress/vectors.ts';
import { parseLength } from '../../../bench/vector-length.ts';

describe('a number of elements', () => {
  it.each([
    ['7', 7],
    ['10k', 10_000],
    ['10K', 10_000],
    ['1.5M', 1_500_000],
  ])('%s', (text, n) => {
    expect(parseLength(text)).toBe(n);
  });

  it.each(['', '0', '1.5', '10G', '-3', 'K'])('"%s" is none', (text) => {
    expect(() => parseLength(text)).toThrow(/no number of elements/);
  });
});

it('a vector is thinned over all of its length', () => {
  const values = Float32Array.from({ length: 10 }, (_, i) => i);
  expect([...thinned(values, 4)]).toEqual([0, 2, 5, 7]);
  expect([...thinned(values, 10)]).toEqual([...values]);
});
