/**
 * A slower network or a larger payload makes no exchange cheaper, over worlds, payloads and networks at
 * random. One step down is right: streams that turn dense are added, which takes less than merging them.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ExchangeShape } from '../../../src/agent/collectives/collective.ts';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { ring, RING_CHUNK_BYTES } from '../../../src/agent/collectives/ring.ts';
import type { NetworkCost } from '../../../src/shared/cost-model/network-cost.ts';

/** Sums of the same numbers in another order differ in their last digits. */
const ROUNDING = 1 + 1e-9;
/** Elements of a part, so that parts are whole and lie on whole cache lines. */
const PART = 1024;

/** Numbers of all magnitudes between two powers of ten. */
const between = (least: number, most: number): fc.Arbitrary<number> =>
  fc.double({ min: least, max: most, noNaN: true }).map((power) => 10 ** power);
const whole = (most: number): fc.Arbitrary<number> => between(0, most).map(Math.floor);
const factor = between(0, 2);

const networks = fc.record(
  {
    alpha: between(-6, -2),
    beta: between(-11, -6),
    gamma: between(-11, -8),
    overhead: between(-7, -3),
    between: fc.record({
      alpha: between(-6, -1),
      beta: between(-11, -6),
      perRank: fc.boolean(),
    }),
  },
  { requiredKeys: ['alpha', 'beta', 'gamma'] },
);
/** A network whose messages have a rate for each of their sizes. */
const ratedNetworks = fc
  .tuple(networks, fc.option(fc.tuple(between(-1, 0), between(-0.3, 0.3))))
  .map(([network, rates]): NetworkCost =>
    rates === null
      ? network
      : {
          ...network,
          rates: [
            { bytes: 4096, beta: rates[0] * network.beta },
            { bytes: 2 ** 20, beta: rates[1] * network.beta },
            { bytes: 2 ** 24, beta: network.beta },
          ],
        },
  );

interface World {
  readonly ranks: number;
  readonly places: readonly number[];
}

/** Ranks on one to three nodes, equally many on each. */
const worlds = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 13 }))
  .filter(([nodes, each]) => nodes * each > 1)
  .map(([nodes, each]): World => ({
    ranks: nodes * each,
    places: Array.from({ length: nodes * each }, (_, rank) => Math.floor(rank / each)),
  }));

const dense = (world: World, length: number): ExchangeShape => ({
  ...world,
  length,
  payloadBytes: 4 * length,
});
const sparse = (world: World, length: number, nnz: number): ExchangeShape => ({
  ...world,
  length,
  nnz,
  payloadBytes: 8 * nnz,
});

const all = [...collectives.values()];
const takesDense = all.filter(({ takes }) => takes.includes('dense'));
const takesSparse = all.filter(({ takes }) => takes.includes('sparse'));

type Collective = (typeof all)[number];
const secondsOf = (
  collective: Collective,
  shape: ExchangeShape,
  network: NetworkCost,
): number => predict(collective, shape, network).seconds;

/** @param less seconds of what must not be dearer */
const expectInOrder = (less: number, more: number): void => {
  expect(less).toBeLessThanOrEqual(more * ROUNDING);
};

describe.each(all)('$id', (collective) => {
  test('is not cheaper on a slower network', () => {
    const times = fc.record({
      alpha: factor,
      beta: factor,
      gamma: factor,
      overhead: factor,
      link: factor,
    });
    fc.assert(
      fc.property(
        worlds,
        ratedNetworks,
        times,
        whole(8),
        between(-4, 0),
        (world, network, by, length, share) => {
          const shape = collective.takes.includes('dense')
            ? dense(world, length)
            : sparse(world, length, Math.ceil(share * length));
          const { overhead, between: link, rates } = network;
          const slower: NetworkCost = {
            alpha: by.alpha * network.alpha,
            beta: by.beta * network.beta,
            gamma: by.gamma * network.gamma,
            overhead: (overhead ?? network.alpha) * by.overhead,
            rates: rates?.map(({ bytes, beta }) => ({ bytes, beta: by.beta * beta })),
            between: link && {
              ...link,
              alpha: by.link * link.alpha,
              beta: by.link * link.beta,
            },
          };
          expectInOrder(
            secondsOf(collective, shape, network),
            secondsOf(collective, shape, slower),
          );
        },
      ),
    );
  });
});

describe.each(takesDense)('$id of dense vectors', (collective) => {
  test('is not cheaper with more elements', () => {
    fc.assert(
      fc.property(
        worlds,
        ratedNetworks,
        whole(4),
        whole(4),
        (world, network, parts, more) => {
          const { ranks } = world;
          const at = (count: number): number =>
            secondsOf(collective, dense(world, count * PART * ranks), network);
          expectInOrder(at(parts), at(parts + more));
        },
      ),
    );
  });
});

test('a ring is not cheaper with a little more than whole chunks, though sums cost as much as bytes', () => {
  const world = { ranks: 12, places: Array.from({ length: 12 }, () => 0) };
  const network = { alpha: 1e-6, beta: 5e-11, gamma: 3.5e-9 };
  for (const chunks of [1, 2, 3, 7]) {
    const length = (12 * chunks * RING_CHUNK_BYTES) / 4;
    const at = (more: number): number =>
      secondsOf(ring, dense(world, length + more), network);
    expectInOrder(at(0), at(12));
    expectInOrder(at(12), at(12 * 1024));
  }
});

describe.each(takesSparse)('$id of sparse vectors', (collective) => {
  test('is not cheaper with more elements of the same density', () => {
    fc.assert(
      fc.property(
        worlds,
        ratedNetworks,
        whole(5),
        between(-4, 0),
        whole(2),
        (world, network, length, share, times) => {
          const nnz = Math.ceil(share * length);
          expectInOrder(
            secondsOf(collective, sparse(world, length, nnz), network),
            secondsOf(collective, sparse(world, times * length, times * nnz), network),
          );
        },
      ),
    );
  });

  test('is not cheaper with more entries, unless streams turn dense, which spares merges', () => {
    fc.assert(
      fc.property(
        worlds,
        ratedNetworks,
        whole(7),
        between(0, 1),
        between(-7, 0),
        (world, network, length, times, share) => {
          const few = Math.ceil(share * length);
          const many = Math.min(length, Math.ceil(times * few));
          const at = (nnz: number, on: NetworkCost): number =>
            secondsOf(collective, sparse(world, length, nnz), on);
          const noSums = { ...network, gamma: 0 };
          expectInOrder(at(few, noSums), at(many, noSums));
          if (4 * world.ranks * many < length) {
            expectInOrder(at(few, network), at(many, network));
          }
        },
      ),
    );
  });
});
