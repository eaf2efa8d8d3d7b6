/** The cheapest δ, against the least cost found by trying each. */
import { describe, expect, test } from 'vitest';
import { bestDelta, deltaByBytes } from '../../../src/agent/collectives/best-delta.ts';
import {
  LOOPBACK,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';

const N = 2000;

/** Seconds of merging two sparse streams and of sending the sum, with this δ/N. */
function seconds(
  entries: number,
  delta: number,
  valueBytes: 4 | 8,
  { beta, gamma, merge = 14 * gamma, scatter = 5 * gamma }: NetworkCost,
): number {
  return entries >= delta * N
    ? N * gamma + entries * scatter + valueBytes * N * beta
    : entries * merge + (4 + valueBytes) * entries * beta;
}

/** The share that costs least over all numbers of entries, one by one. */
function tried(valueBytes: 4 | 8, network: NetworkCost): number {
  let best = { delta: 0, cost: Infinity };
  const most = Math.floor(deltaByBytes(valueBytes) * N);
  for (let at = 1; at <= most; at++) {
    const delta = at / N;
    let cost = 0;
    for (let entries = 1; entries <= most; entries++) {
      cost += seconds(entries, delta, valueBytes, network);
    }
    if (cost < best.cost) best = { delta, cost };
  }
  return best.delta;
}

const gigabit = { ...LOOPBACK, beta: 8e-9 };
const slowMerge = { ...LOOPBACK, merge: 2e-8, scatter: 1e-9 };

describe.each([4, 8] as const)('values of %d bytes', (valueBytes) => {
  test.each([
    ['loopback', LOOPBACK],
    ['1 Gbit/s', gigabit],
    ['slow merges', slowMerge],
    ['merges as fast as scatters', { ...LOOPBACK, merge: 1e-9, scatter: 1e-9 }],
  ])('the share is the one of least cost: %s', (_, network) => {
    const delta = bestDelta(network, N, valueBytes, false);
    expect(Math.abs(delta - tried(valueBytes, network))).toBeLessThanOrEqual(1 / N);
  });

  test('it is at most the share by bytes, and tends to it on slow links', () => {
    const most = valueBytes / (4 + valueBytes);
    expect(deltaByBytes(valueBytes)).toBe(most);
    const slow = { ...LOOPBACK, beta: 1e-5 };
    expect(bestDelta(slow, N, valueBytes, false)).toBeCloseTo(most, 3);
    const fastMerge = { ...LOOPBACK, merge: 0, scatter: 1e-6 };
    expect(bestDelta(fastMerge, N, valueBytes, false)).toBe(most);
  });
});

test('ranks on several nodes take the δ of their slower links', () => {
  const network = { ...LOOPBACK, between: { alpha: 1e-4, beta: 8e-9 } };
  expect(bestDelta(network, N, 4, true)).toBe(bestDelta(gigabit, N, 4, false));
  expect(bestDelta(network, N, 4, false)).toBe(bestDelta(LOOPBACK, N, 4, false));
});
