import { expect, test } from 'vitest';
import { nextInterval } from '../../../src/agent/exchange/interval-lengths.ts';

function lengths(
  buckets: number,
  ranks: number,
  most: number,
  elements = 0,
): readonly number[] {
  const all: number[] = [];
  for (let done = 0; done < most; done += all.at(-1)!) {
    all.push(nextInterval(done, { buckets, elements, ranks }));
  }
  return all;
}

test('the first intervals are short, the usual ones cost little for each bucket', () => {
  expect(lengths(4, 4, 64)).toEqual([1, 1, 2, 4, 8, 16, 16, 16]);
  expect(lengths(50, 4, 600)).toEqual([1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 256]);
  expect(lengths(10_000, 4, 5000).at(-1)).toBe(1024);
  expect(lengths(4, 4, 1000, 25_000_000).at(-1)).toBe(128);
});

test('a long run has few of them, each power of two at its multiple', () => {
  const all = lengths(4, 8, 2 ** 20);
  // 2,048 records of eight ranks for each doubling.
  expect(all.length * 8).toBeLessThan(2048 * 14);
  let done = 0;
  for (const length of all) {
    expect(Number.isInteger(Math.log2(length))).toBe(true);
    expect(done % length).toBe(0);
    done += length;
  }
});
