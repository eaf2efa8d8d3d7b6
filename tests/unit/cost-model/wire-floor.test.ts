/**
 * Predictions of dense collectives from measurements of all kinds: never faster than the wire, and
 * never faster for more bytes. The wire is counted here, link by link.
 */
import { describe, expect, test } from 'vitest';
import { predictAll } from '../../../src/agent/collectives/prediction.ts';
import { candidatesFor } from '../../../src/agent/collectives/registry.ts';
import { expectedSeconds } from '../../../src/agent/collectives/timed-factor.ts';
import {
  byteSeconds,
  linkByteSeconds,
  LOOPBACK,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../../src/shared/cost-model/timed-collective.ts';

/** Gigabit Ethernet: 941 Mbit/s of messages. */
const WIRE = 8 / 941e6;
const MB = 2 ** 20;

const dense = (bytes: number, ranks: number) => ({
  ranks,
  length: bytes / 4,
  payloadBytes: bytes,
});

/** Least bytes that every rank must send to have all sums: 2(P−1)/P of the vector. */
const onTheWire = (bytes: number, ranks: number): number =>
  (2 * (ranks - 1) * bytes * WIRE) / ranks;

/** As measured through a shaper, which lets bursts of 256 KB pass at once. */
function shaped(): NetworkCost {
  const alpha = 120e-6;
  const rates = [2 ** 12, 2 ** 16, 2 ** 19, 2 ** 21, 2 ** 24].map((bytes) => ({
    bytes,
    beta: (WIRE * Math.max(0.2 * bytes, bytes - 2 ** 18)) / bytes + 0.14e-9,
  }));
  return { alpha, beta: 9.7e-9, gamma: 0.3e-9, rates };
}

/** The collectives' times on it, up to a size: of small vectors, latency is overestimated. */
function timed(network: NetworkCost, ranks: number, largest: number): NetworkCost {
  const collectives: TimedCollective[] = [];
  for (const collective of candidatesFor('dense', undefined)) {
    for (let bytes = 2 ** 10; bytes <= largest; bytes *= 16) {
      const shape = dense(bytes, ranks);
      const predicted = collective.cost(shape, network);
      const seconds = 0.3 * predicted + bytes * WIRE;
      collectives.push({
        collective: collective.id,
        ranks,
        length: shape.length,
        seconds,
        predicted,
      });
    }
  }
  return { ...network, timed: { network, collectives } };
}

const RANKS = [2, 3, 4, 8, 16];
const SIZES = Array.from(
  { length: 40 },
  (_, step) => 4 * Math.round(2 ** (8 + step / 2)),
);

describe.each(RANKS)('P = %d on a shaped link', (ranks) => {
  test.each([2 ** 10, 2 ** 14, 2 ** 18])('timed up to %d bytes', (largest) => {
    const network = timed(shaped(), ranks, largest);
    for (const bytes of [MB / 16, MB, 16 * MB, 64 * MB, 256 * MB]) {
      const [best] = predictAll('dense', dense(bytes, ranks), network);
      const wire = onTheWire(bytes, ranks);
      expect(best!.seconds, `${bytes} B`).toBeGreaterThanOrEqual(wire);
      // The best of several is not far above it where bytes count.
      if (bytes >= 16 * MB) expect(best!.seconds).toBeLessThan(1.15 * wire);
      const { bandwidth, latency, reduction, seconds } = best!;
      expect((latency + bandwidth + reduction) / seconds).toBeCloseTo(1, 12);
    }
  });

  test('more bytes never take less', () => {
    for (const largest of [0, 2 ** 10, 2 ** 18, 2 ** 26]) {
      const network = timed(shaped(), ranks, largest);
      for (const collective of candidatesFor('dense', undefined)) {
        let before = 0;
        for (const bytes of SIZES) {
          const seconds = expectedSeconds(collective, dense(bytes, ranks), network);
          expect(seconds, `${collective.id}, ${bytes} B`).toBeGreaterThanOrEqual(
            before * (1 - 1e-9),
          );
          before = seconds;
        }
      }
    }
  });
});

test('times that fall as vectors grow are pooled', () => {
  const seconds = [4e-3, 1e-3, 3e-3, 2e-3, 9e-3];
  const collectives = seconds.map((time, step) => ({
    collective: 'ring',
    ranks: 4,
    length: 4 ** (4 + step),
    seconds: time,
    predicted: 1,
  }));
  const network = { ...LOOPBACK, timed: { network: LOOPBACK, collectives } };
  const ring = candidatesFor('dense', undefined).find(({ id }) => id === 'ring')!;
  const at = SIZES.map((bytes) => expectedSeconds(ring, dense(bytes, 4), network));
  expect(at).toEqual(at.toSorted((a, b) => a - b));
  expect(Math.min(...at.slice(4, 20))).toBeGreaterThan(1e-3);
  expect(Math.max(...at.slice(4, 20))).toBeLessThan(1e-2);
});

describe('the link’s own rate', () => {
  test('is that of the largest messages where copies do not explain it', () => {
    const network = shaped();
    const sustained = network.rates!.at(-1)!.beta;
    expect(linkByteSeconds(network)).toBe(sustained);
    expect(sustained).toBeGreaterThanOrEqual(WIRE);
    for (const bytes of SIZES) {
      expect(byteSeconds(network, bytes)).toBeGreaterThanOrEqual(WIRE);
    }
  });

  test('is unknown on loopback, where small messages are faster in caches', () => {
    const rates = [
      { bytes: 2 ** 16, beta: 0.12e-9 },
      { bytes: 2 ** 24, beta: 0.4e-9 },
    ];
    const network = { ...LOOPBACK, rates };
    expect(linkByteSeconds(network)).toBe(0);
    expect(byteSeconds(network, 2 ** 16)).toBe(0.12e-9);
  });
});
