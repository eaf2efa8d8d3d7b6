import { describe, expect, test } from 'vitest';
import {
  burstSeconds,
  byteSeconds,
  messageSeconds,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';

const plain: NetworkCost = { alpha: 10, beta: 2, gamma: 0 };
const measured: NetworkCost = {
  ...plain,
  overhead: 3,
  rates: [
    // As copies and caches differ: what is slower than memory is the link, at any size.
    { bytes: 2 ** 10, beta: 1e-10 },
    { bytes: 2 ** 14, beta: 5e-10 },
    { bytes: 2 ** 16, beta: 4e-10 },
  ],
};

describe('a byte', () => {
  test('takes β where its message’s size was not measured', () => {
    expect(byteSeconds(plain, 1)).toBe(2);
    expect(byteSeconds({ ...plain, rates: [] }, 1e9)).toBe(2);
  });

  test.each([
    [0, 1],
    [1, 1],
    [2 ** 10, 1],
    [2 ** 11, 2],
    [2 ** 13, 4],
    [2 ** 14, 5],
    [2 ** 15, 4.5],
    [2 ** 16, 4],
    [2 ** 30, 4],
  ])(
    'of a message of %d bytes takes %d tenths of a ns, by its size',
    (bytes, tenths) => {
      expect(1e10 * byteSeconds(measured, bytes)).toBeCloseTo(tenths, 12);
    },
  );
});

describe('messages', () => {
  test('take α and their bytes', () => {
    expect(messageSeconds(plain, 7)).toBe(10 + 7 * 2);
    expect(messageSeconds(measured, 2 ** 14)).toBe(10 + 2 ** 14 * 5e-10);
    expect(messageSeconds(measured, 0)).toBe(10);
  });

  test('that leave at once take α each where nothing else was measured', () => {
    expect(burstSeconds(plain, 3, 7)).toBe(3 * (10 + 7 * 2));
    expect(burstSeconds(plain, 1, 7)).toBe(messageSeconds(plain, 7));
    expect(burstSeconds(plain, 0, 7)).toBe(0);
  });

  test('that leave at once share one latency where o was', () => {
    expect(burstSeconds(measured, 3, 2 ** 14)).toBe(10 + 2 * 3 + 3 * 2 ** 14 * 5e-10);
    expect(burstSeconds({ ...plain, overhead: 0 }, 100, 0)).toBe(10);
  });
});
