/** What a merge costs by the form of its sum, which depends on the bytes of a value. */
import { expect, test } from 'vitest';
import { mergedSeconds } from '../../../src/agent/collectives/fill-in.ts';

const network = { alpha: 0, beta: 0, gamma: 1, merge: 10, scatter: 100 };

test('a sum of f64 values becomes dense later than one of f32 values', () => {
  const seconds = (entries: number, valueBytes: 4 | 8): number =>
    mergedSeconds(entries / 2, entries / 2, { length: 1000, valueBytes }, network);
  // Indices take 4 bytes: δ is 500 entries of f32 and 667 of f64.
  expect([480, 520, 660, 680].map((entries) => seconds(entries, 4))).toEqual([
    ...[4800, 1000 + 52_000, 1000 + 66_000, 1000 + 68_000],
  ]);
  expect([480, 520, 660, 680].map((entries) => seconds(entries, 8))).toEqual([
    ...[4800, 5200, 6600, 1000 + 68_000],
  ]);
});
