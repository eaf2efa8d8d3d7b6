/** A network in a spec: what may be written, how it is kept, and what is refused. */
import { describe, expect, it, test } from 'vitest';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import {
  emulatedCost,
  emulatedCosts,
} from '../../../src/shared/cost-model/emulated-cost.ts';
import { messageSeconds } from '../../../src/shared/cost-model/network-cost.ts';
import { pairOf, slowestLinks } from '../../../src/shared/spec/emulated-links.ts';
import {
  describeEmulated,
  emulatedNetwork,
  secondsPerByte,
  type NetworkSpec,
} from '../../../src/shared/machines/emulated-network.ts';
import type { GradwireError } from '../../../src/shared/errors/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';

const parse = (network: unknown): NetworkSpec =>
  parseExperimentSpec({ workload: { model: 'fnn3', dataset: 'digits' }, network })
    .network!;

const errorOf = (act: () => unknown): GradwireError => {
  try {
    act();
  } catch (error) {
    return error as GradwireError;
  }
  throw new Error('expected an error');
};

describe('a network in a spec', () => {
  it.each([
    ['1 Gbit/s', 1e9, '1 Gbit/s'],
    ['1Gbit/s', 1e9, '1 Gbit/s'],
    ['100 Mbit/s', 1e8, '100 Mbit/s'],
    ['2.5 Gbps', 2.5e9, '2.5 Gbit/s'],
    ['10 Gb/s', 1e10, '10 Gbit/s'],
    ['1 GB/s', 8e9, '8 Gbit/s'],
    ['125 MB/s', 1e9, '1 Gbit/s'],
    ['1e9 bit/s', 1e9, '1 Gbit/s'],
    [1e9, 1e9, '1 Gbit/s'],
    [100_000, 1e5, '100 kbit/s'],
  ])('has a bandwidth of %s', (bandwidth, bitsPerSecond, kept) => {
    const network = parse({ bandwidth });
    expect(network).toEqual({ bandwidth: kept, latency: '0 µs' });
    expect(emulatedNetwork(network)).toEqual({ bandwidth: bitsPerSecond, latency: 0 });
    // As it is kept it means the same.
    expect(parse(network)).toEqual(network);
  });

  it.each([
    ['50 µs', 0.05, '50 µs'],
    ['50 μs', 0.05, '50 µs'],
    ['50us', 0.05, '50 µs'],
    ['0.2 ms', 0.2, '200 µs'],
    ['1500 µs', 1.5, '1.5 ms'],
    ['500 ns', 0.0005, '0.5 µs'],
    [0.001, 1, '1 ms'],
    [0, 0, '0 µs'],
  ])('has a latency of %s', (latency, milliseconds, kept) => {
    const network = parse({ bandwidth: 1e9, latency });
    expect(network.latency).toBe(kept);
    expect(emulatedNetwork(network).latency).toBeCloseTo(milliseconds, 9);
    expect(parse(network)).toEqual(network);
  });

  it.each([0, -1, NaN, Infinity, '0 Gbit/s', '-1 Gbit/s', '1', '1 Gbit', 'fast', ''])(
    'refuses a bandwidth of %s with examples',
    (bandwidth) => {
      const error = errorOf(() => parse({ bandwidth }));
      expect(error.code).toBe('SPEC_INVALID');
      expect(error.message).toMatch(
        /^"network.bandwidth" .*"1 Gbit\/s", "100 Mbit\/s"/,
      );
    },
  );

  it.each(['1 bit/s', 99_999, '2 Tbit/s', null, true, [1]])(
    'refuses a bandwidth of %s, which no link here has',
    (bandwidth) => {
      expect(errorOf(() => parse({ bandwidth })).message).toContain('100 kbit/s');
    },
  );

  it.each([-1e-6, NaN, 11, '50', '50 m', '1 min', '-5 µs'])(
    'refuses a latency of %s with examples',
    (latency) => {
      const error = errorOf(() => parse({ bandwidth: 1e9, latency }));
      expect(error.message).toMatch(/^"network.latency" .*"50 µs", "50 us"/);
    },
  );

  it('needs a bandwidth, and knows its keys', () => {
    expect(errorOf(() => parse({})).message).toContain(
      '"network.bandwidth" is missing',
    );
    expect(errorOf(() => parse({ bandwith: 1 }))).toMatchObject({
      code: 'SPEC_UNKNOWN_KEY',
      next: 'Did you mean "network.bandwidth"?',
    });
  });

  describe('has links between nodes that differ', () => {
    const nodes = ['lab-1', 'lab-2', 'lab-3'];
    const pair = (...between: string[]) => ({ between, bandwidth: '100 Mbit/s' });
    const launch = (...pairs: object[]): unknown =>
      checkedLaunch({
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 6, nodes },
        network: { bandwidth: '1 Gbit/s', pairs },
      });

    it('which keep their spelling, and are taken on any nodes of the run', () => {
      const pairs = [pair('lab-1', 'lab-2'), pair('lab-3', 'lab-3')];
      expect(launch(...pairs)).toMatchObject({
        spec: { network: { pairs: pairs.map((one) => ({ ...one, latency: '0 µs' })) } },
      });
      const network = emulatedNetwork(parse({ bandwidth: '1 Gbit/s', pairs }));
      expect(network.pairs).toEqual([
        { between: ['lab-1', 'lab-2'], bandwidth: 1e8, latency: 0 },
        { between: ['lab-3', 'lab-3'], bandwidth: 1e8, latency: 0 },
      ]);
      for (const ends of [
        ['lab-1', 'lab-2'],
        ['lab-2', 'lab-1'],
      ]) {
        expect(pairOf(network, ends[0]!, ends[1]!)).toBe(network.pairs![0]);
      }
      expect(pairOf(network, 'lab-1', 'lab-1')).toBeUndefined();
    });

    it.each([
      [
        [pair('lab-1', 'lab-2'), pair('lab-1', 'lab4')],
        ...['NETWORK_NODE_UNKNOWN', 'lab4', 'network.pairs[1].between', 'lab-1'],
      ],
      [
        [pair('elsewhere', 'lab-1')],
        ...['NETWORK_NODE_UNKNOWN', 'elsewhere', 'network.pairs[0].between', 'lab-3'],
      ],
      [
        [pair('lab-1', 'lab-2'), pair('lab-2', 'lab-1')],
        ...['NETWORK_PAIR_REPEATED', 'lab-2', 'network.pairs[1].between', 'Remove'],
      ],
      [
        [pair('lab-1', 'lab-1'), pair('lab-1', 'lab-1')],
        ...['NETWORK_PAIR_REPEATED', 'lab-1', 'network.pairs[1].between', 'Remove'],
      ],
    ])('%j are refused: %s', (pairs, code, name, place, next) => {
      const error = errorOf(() => launch(...pairs));
      expect(error).toMatchObject({ code, kind: 'input', place });
      expect(error.message).toContain(`"${name}"`);
      expect(error.next).toContain(next);
    });

    it('which know their keys', () => {
      expect(
        errorOf(() => launch({ ...pair('lab-1', 'lab-2'), latncy: 1 })),
      ).toMatchObject({
        code: 'SPEC_UNKNOWN_KEY',
        next: 'Did you mean "network.pairs.0.latency"?',
      });
      const alone = { between: ['lab-1'], bandwidth: 1e9 };
      expect(errorOf(() => launch(alone)).message).toContain(
        'must be the names of two machines',
      );
    });

    it.each([
      [{ between: ['lab-1'], bandwidth: 1e9 }, 'network.pairs.0.between'],
      [{ between: ['a', 'b', 'c'], bandwidth: 1e9 }, 'network.pairs.0.between'],
      [{ between: ['lab-1', 'lab-2'] }, 'network.pairs.0.bandwidth'],
      [{ ...pair('lab-1', 'lab-2'), latency: 'long' }, 'network.pairs.0.latency'],
    ])('%j is refused where it is wrong', (given, at) => {
      const error = errorOf(() => launch(given));
      expect(error.code).toBe('SPEC_INVALID');
      expect(error.message).toContain(`"${at}`);
    });
  });

  it('is taken on one node and on several', () => {
    for (const nodes of [['this-computer'], ['a', 'b']]) {
      const launched = checkedLaunch({
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 2, nodes },
        network: { bandwidth: 1e9 },
      });
      expect(launched.spec.world.nodes).toEqual(nodes);
    }
  });

  it('is described in words', () => {
    expect(describeEmulated({ bandwidth: 1e9, latency: 0.05 })).toBe(
      'emulated 1 Gbit/s, 50 µs',
    );
    expect(describeEmulated({ bandwidth: 2.5e9, latency: 0 })).toBe(
      'emulated 2.5 Gbit/s',
    );
    const pair = (a: string, b: string, latency = 0) => ({
      between: [a, b] as const,
      bandwidth: 1e8,
      latency,
    });
    const link = { bandwidth: 1e9, latency: 0 };
    const pairs = [pair('lab-1', 'lab-2', 1), pair('lab-1', 'lab-1')];
    expect(describeEmulated({ ...link, pairs })).toBe(
      'emulated 1 Gbit/s; lab-1–lab-2: 100 Mbit/s, 1 ms; within lab-1: 100 Mbit/s',
    );
    const many = Array.from({ length: 6 }, (_, node) => pair('a', `b${node}`));
    expect(describeEmulated({ ...link, pairs: many })).toMatch(/; and 2 more pairs$/);
  });
});

describe('what an emulated network costs', () => {
  const beneath = {
    alpha: 10e-6,
    beta: 0.5e-9,
    gamma: 0.3e-9,
    merge: 2e-9,
    rates: [{ bytes: 1000, beta: 0.2e-9 }],
    timed: {
      network: { alpha: 1, beta: 1, gamma: 1 },
      collectives: [
        { collective: 'ring', ranks: 2, length: 1, seconds: 1, predicted: 1 },
      ],
    },
  };

  test('is its own latency and bandwidth, and the kernels of the machine', () => {
    const cost = emulatedCost({ bandwidth: 1e9, latency: 0.05 }, beneath);
    // 941 Mbit/s, which everybody who has measured such a network has seen.
    expect(messageSeconds(cost, 1e6)).toBeCloseTo(60e-6 + 8e6 / 941.48e6, 6);
    expect(messageSeconds(cost, 1000)).toBeCloseTo(60e-6 + 8000 / 941.48e6, 9);
    expect(cost).toMatchObject({ gamma: 0.3e-9, merge: 2e-9 });
    // What collectives were seen to take on the real network says nothing here.
    expect(cost.timed).toBeUndefined();
  });

  test('messages that leave at once wait once for the latency', () => {
    const { alpha, overhead } = emulatedCost({ bandwidth: 1e9, latency: 5 }, beneath);
    expect([alpha, overhead]).toEqual([5.01e-3, 10e-6]);
  });

  test('is never less than what carries it', () => {
    const cost = emulatedCost({ bandwidth: 1e12, latency: 0 }, beneath);
    expect(cost).toMatchObject({ alpha: 10e-6, beta: 0.5e-9, rates: beneath.rates });
  });

  describe('on several nodes', () => {
    const link = { bandwidth: 1e9, latency: 0.05 };
    const pairs = [
      { between: ['a', 'b'] as const, bandwidth: 1e8, latency: 0 },
      { between: ['b', 'c'] as const, bandwidth: 1e10, latency: 3 },
      { between: ['a', 'a'] as const, bandwidth: 5e9, latency: 0 },
    ];
    const costs = (...nodes: (readonly [string, number])[]) =>
      emulatedCosts(slowestLinks({ ...link, pairs }, nodes), beneath);

    test('is that of the slowest links, bandwidth and latency each by itself', () => {
      const { between, ...within } = costs(['a', 2], ['b', 1], ['c', 1]);
      expect(between).toEqual({
        alpha: 10e-6 + 3e-3,
        beta: secondsPerByte({ bandwidth: 1e8, latency: 0 }),
        perRank: true,
      });
      expect(within).toEqual(emulatedCost({ bandwidth: 5e9, latency: 0 }, beneath));
    });

    test('is that of the nodes that have ranks, and within those that have several', () => {
      expect(costs(['a', 2]).between).toBeUndefined();
      expect(costs(['b', 2], ['c', 1])).toMatchObject({
        beta: secondsPerByte(link),
        between: {
          alpha: 10e-6 + 3e-3,
          beta: secondsPerByte({ ...link, bandwidth: 1e10 }),
        },
      });
      expect(costs(['b', 1], ['c', 1]).beta).toBe(beneath.beta);
    });

    test('is that of the links beneath where those were measured to be worse', () => {
      const measured = { ...beneath, between: { alpha: 1e-3, beta: 1e-6 } };
      const links = slowestLinks(link, [
        ['a', 1],
        ['b', 1],
      ]);
      expect(emulatedCosts(links, measured).between).toMatchObject({
        alpha: 1e-3 + 0.05e-3,
        beta: 1e-6,
      });
    });

    test('of links that are all alike, is what one node with as many ranks would take', () => {
      const ranks = 4;
      const shape = { ranks, length: 1e6, payloadBytes: 4e6 };
      const alike = (nodes: (readonly [string, number])[]) =>
        emulatedCosts(slowestLinks(link, nodes), beneath);
      for (const id of ['ring', 'rabenseifner', 'recursive-doubling']) {
        const collective = findCollective(id);
        const one = predict(collective, shape, alike([['a', 4]]));
        for (const places of [
          [0, 0, 1, 1],
          [0, 1, 2, 3],
        ]) {
          const counts = Map.groupBy(places, (place) => place);
          const nodes = [...counts].map(
            ([node, those]) => [`n${node}`, those.length] as const,
          );
          const spread = predict(collective, { ...shape, places }, alike(nodes));
          expect(spread.seconds / one.seconds).toBeCloseTo(1, 2);
        }
      }
    });
  });

  test('is named in the notice of auto', () => {
    const cost = emulatedCost({ bandwidth: 1e9, latency: 0 });
    expect(new NetworkKnowledge(cost, true).origin).toContain('emulated');
    expect(new NetworkKnowledge(cost).origin).not.toContain('emulated');
  });
});
