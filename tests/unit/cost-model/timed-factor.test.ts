/** What timed collectives make of predictions, and of `auto`. */
import { describe, expect, test } from 'vitest';
import type { ExchangeShape } from '../../../src/agent/collectives/collective.ts';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import {
  chooseCollective,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';
import {
  expectedSeconds,
  timedFactor,
} from '../../../src/agent/collectives/timed-factor.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../../src/shared/cost-model/network-profile.ts';

const dense = (length: number, ranks = 4): ExchangeShape => ({
  ...{ ranks, length, payloadBytes: 4 * length },
});
const sparse = (length: number, nnz: number): ExchangeShape => ({
  ...{ ranks: 4, length, nnz, payloadBytes: 8 * nnz },
});
/** Timed at so many times what was predicted. */
const timed = (
  collective: string,
  factor: number,
  shape: Pick<TimedCollective, 'length' | 'nnz'>,
): TimedCollective => ({
  ...{ collective, ranks: 4, ...shape, seconds: factor, predicted: 1 },
});
const ring = findCollective('ring');
const network = {
  ...LOOPBACK,
  timed: [timed('ring', 2, { length: 2 ** 10 }), timed('ring', 8, { length: 2 ** 20 })],
};

describe('the factor of a timed collective', () => {
  test('is 1 where nothing was timed, or nothing alike', () => {
    expect(timedFactor(ring, dense(2 ** 10), LOOPBACK)).toBe(1);
    expect(timedFactor(ring, dense(2 ** 10), { ...LOOPBACK, timed: [] })).toBe(1);
    expect(timedFactor(ring, dense(2 ** 10, 8), network)).toBe(1);
    expect(timedFactor(findCollective('rabenseifner'), dense(2 ** 10), network)).toBe(
      1,
    );
    expect(timedFactor(ring, sparse(2 ** 10, 16), network)).toBe(1);
    const quantization = { bits: 4, bucket: 512, scale: 'max' } as const;
    expect(timedFactor(ring, { ...dense(2 ** 10), quantization }, network)).toBe(1);
  });

  test('is that of a shape that was timed, nearly', () => {
    expect(timedFactor(ring, dense(2 ** 10), network)).toBeCloseTo(2, 1);
    expect(timedFactor(ring, dense(2 ** 20), network)).toBeCloseTo(8, 0);
  });

  test('of one that fell out is drawn to those beside it', () => {
    const factors = [1, 4, 1];
    const noisy = factors.map((factor, step) =>
      timed('ring', factor, { length: 2 ** (12 + step) }),
    );
    const factor = timedFactor(ring, dense(2 ** 13), { ...LOOPBACK, timed: noisy });
    expect(factor).toBeGreaterThan(1.2);
    expect(factor).toBeLessThan(2);
  });

  test('goes from one to the other between them, and stays beyond', () => {
    const at = (exponent: number) => timedFactor(ring, dense(2 ** exponent), network);
    expect(at(15)).toBeCloseTo(4, 9);
    const between = [10, 12, 14, 16, 18, 20].map(at);
    expect(between).toEqual(between.toSorted((a, b) => a - b));
    for (const beyond of [at(0), at(28), timedFactor(ring, dense(0), network)]) {
      expect(beyond).toBeGreaterThanOrEqual(2);
      expect(beyond).toBeLessThanOrEqual(8);
    }
  });

  test('of sparse vectors goes by both N and k', () => {
    const allgather = findCollective('sparse-allgather');
    const both = {
      ...LOOPBACK,
      timed: [
        timed('sparse-allgather', 2, { length: 2 ** 20, nnz: 2 ** 6 }),
        timed('sparse-allgather', 8, { length: 2 ** 20, nnz: 2 ** 16 }),
      ],
    };
    expect(timedFactor(allgather, sparse(2 ** 20, 2 ** 11), both)).toBeCloseTo(4, 9);
    expect(timedFactor(allgather, sparse(2 ** 18, 2 ** 7), both)).toBeLessThan(2.2);
  });
});

describe('what is expected', () => {
  test('is the model’s, times the factor, term by term', () => {
    const shape = dense(2 ** 15);
    const bare = predict(ring, shape, LOOPBACK);
    const prediction = predict(ring, shape, network);
    expect(prediction.seconds).toBeCloseTo(4 * bare.seconds, 9);
    expect(prediction.latency).toBeCloseTo(4 * bare.latency, 9);
    expect(prediction.bandwidth).toBeCloseTo(4 * bare.bandwidth, 9);
    expect(prediction.wireBytes).toBe(bare.wireBytes);
    expect(expectedSeconds(ring, shape, network)).toBeCloseTo(prediction.seconds, 12);
  });

  test('is what auto goes by', () => {
    const shape = dense(2 ** 20);
    const cheapest = chooseCollective('dense', shape, LOOPBACK);
    const slow = timed(cheapest.id, 100, { length: 2 ** 20 });
    const choice = chooseCollective('dense', shape, { ...LOOPBACK, timed: [slow] });
    expect(choice.id).not.toBe(cheapest.id);
  });
});
