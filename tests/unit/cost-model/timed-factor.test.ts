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
import {
  LOOPBACK,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';
import type { TimedCollective } from '../../../src/shared/cost-model/timed-collective.ts';

const dense = (length: number, ranks = 4): ExchangeShape => ({
  ranks,
  length,
  payloadBytes: 4 * length,
});
const sparse = (length: number, nnz: number): ExchangeShape => ({
  ranks: 4,
  length,
  nnz,
  payloadBytes: 8 * nnz,
});
/** What it costs is in proportion to N, or to k: a line in logarithms. */
const BYTES_ALONE: NetworkCost = { alpha: 0, beta: 1e-9, gamma: 0 };
/** Timed at so many times what the model says. */
function timed(id: string, factor: number, shape: ExchangeShape): TimedCollective {
  const predicted = findCollective(id).cost(shape, BYTES_ALONE);
  const { ranks, length, nnz } = shape;
  return { collective: id, ranks, length, nnz, seconds: factor * predicted, predicted };
}
const after = (...collectives: readonly TimedCollective[]): NetworkCost => ({
  ...BYTES_ALONE,
  timed: { network: BYTES_ALONE, collectives },
});
const ring = findCollective('ring');
const allgather = findCollective('sparse-allgather');
const network = after(
  timed('ring', 2, dense(2 ** 10)),
  timed('ring', 4, dense(2 ** 14)),
  timed('ring', 8, dense(2 ** 18)),
);

describe('the factor of a timed collective', () => {
  test('is 1 where nothing was timed, or nothing alike', () => {
    expect(timedFactor(ring, dense(2 ** 10), BYTES_ALONE)).toBe(1);
    expect(timedFactor(ring, dense(2 ** 10), after())).toBe(1);
    expect(timedFactor(ring, dense(2 ** 10, 8), network)).toBe(1);
    const other = findCollective('rabenseifner');
    expect(timedFactor(other, dense(2 ** 10), network)).toBe(1);
    expect(timedFactor(ring, sparse(2 ** 10, 16), network)).toBe(1);
    const quantization = { bits: 4, bucket: 512, scale: 'max' } as const;
    expect(timedFactor(ring, { ...dense(2 ** 10), quantization }, network)).toBe(1);
    const servers = after(timed('parameter-server', 2, dense(2 ** 10)));
    const server = findCollective('parameter-server');
    const of = (count: number | undefined): number =>
      timedFactor(server, { ...dense(2 ** 10), servers: count }, servers);
    expect(of(undefined)).toBeCloseTo(2, 9);
    expect(of(1)).toBe(of(undefined));
    expect(of(2)).toBe(1);
  });

  test('is that of a shape that was timed, and goes from one to the other', () => {
    const at = (exponent: number) => timedFactor(ring, dense(2 ** exponent), network);
    expect(at(10)).toBeCloseTo(2, 1);
    expect(at(12)).toBeCloseTo(Math.sqrt(8), 1);
    expect(at(14)).toBeCloseTo(4, 6);
    expect(at(18)).toBeCloseTo(8, 1);
  });

  test('of larger shapes carries the difference on, of smaller ones the quotient', () => {
    const seconds = (length: number) => expectedSeconds(ring, dense(length), network);
    const model = (length: number) => ring.cost(dense(length), BYTES_ALONE);
    const edge = 2 ** 18;
    for (const length of [2 ** 20, 2 ** 28]) {
      const later = seconds(length) - seconds(edge);
      expect(later / (model(length) - model(edge))).toBeCloseTo(1, 9);
    }
    const first = timedFactor(ring, dense(2 ** 10), network);
    expect(timedFactor(ring, dense(2 ** 4), network)).toBeCloseTo(first, 9);
    expect(timedFactor(ring, dense(0), network)).toBe(1);
  });

  test('of a single timed shape is its own, and beyond its difference', () => {
    const alone = after(timed('ring', 3, dense(2 ** 10)));
    expect(timedFactor(ring, dense(2 ** 10), alone)).toBeCloseTo(3, 9);
    expect(timedFactor(ring, dense(2 ** 11), alone)).toBeCloseTo(2, 9);
    expect(timedFactor(ring, dense(2 ** 9), alone)).toBeCloseTo(3, 9);
  });

  test('of one that fell out is drawn to those beside it', () => {
    const noisy = [1, 4, 1].map((factor, step) =>
      timed('ring', factor, dense(2 ** (12 + step))),
    );
    const factor = timedFactor(ring, dense(2 ** 13), after(...noisy));
    expect(factor).toBeGreaterThan(1.2);
    expect(factor).toBeLessThan(2.5);
  });

  test('of sparse vectors is a plane over N and k', () => {
    const shapes = [
      sparse(2 ** 18, 2 ** 8),
      sparse(2 ** 20, 2 ** 10),
      sparse(2 ** 18, 2 ** 10),
      sparse(2 ** 20, 2 ** 12),
    ];
    // Seconds grow as N^0.25·k^0.5, whatever the model says.
    const law = ({ length, nnz }: { length: number; nnz?: number | undefined }) =>
      1e-6 * length ** 0.25 * nnz! ** 0.5;
    const both = after(
      ...shapes.map((shape) => ({
        ...timed('sparse-allgather', 1, shape),
        seconds: law(shape),
      })),
    );
    for (const shape of [...shapes, sparse(2 ** 19, 2 ** 10)]) {
      const expected = expectedSeconds(allgather, shape, both);
      expect(expected / law(shape)).toBeCloseTo(1, 4);
    }
    // An empty vector is beyond them all.
    expect(timedFactor(allgather, sparse(0, 0), both)).toBeGreaterThan(0);
  });

  test('leaves to act what was corrected since', () => {
    const slower = { ...network, beta: 5 * network.beta };
    const shape = dense(2 ** 14);
    expect(expectedSeconds(ring, shape, slower)).toBeCloseTo(
      5 * expectedSeconds(ring, shape, network),
      9,
    );
  });
});

describe('what is expected', () => {
  test('is the model’s, times the factor, term by term', () => {
    const shape = dense(2 ** 14);
    const measured = { ...LOOPBACK, timed: network.timed };
    const bare = predict(ring, shape, LOOPBACK);
    const prediction = predict(ring, shape, measured);
    expect(prediction.seconds).toBeCloseTo(4 * bare.seconds, 6);
    expect(prediction.latency).toBeCloseTo(4 * bare.latency, 6);
    expect(prediction.bandwidth).toBeCloseTo(4 * bare.bandwidth, 6);
    expect(prediction.wireBytes).toBe(bare.wireBytes);
    expect(expectedSeconds(ring, shape, measured)).toBeCloseTo(prediction.seconds, 12);
  });

  test('decides the choice of auto', () => {
    const shape = dense(2 ** 20);
    const cheapest = chooseCollective('dense', shape, BYTES_ALONE);
    const slow = after(timed(cheapest.id, 100, shape));
    expect(chooseCollective('dense', shape, slow).id).not.toBe(cheapest.id);
  });
});
