/** A network in a spec: what may be written, how it is kept, and what is refused. */
import { describe, expect, it, test } from 'vitest';
import { emulatedCost } from '../../../src/shared/cost-model/emulated-cost.ts';
import { messageSeconds } from '../../../src/shared/cost-model/network-cost.ts';
import {
  describeEmulated,
  emulatedNetwork,
  type NetworkSpec,
} from '../../../src/shared/emulated-network.ts';
import type { GradwireError } from '../../../src/shared/errors.ts';
import { parseExperimentSpec } from '../../../src/shared/experiment-spec.ts';
import { NetworkKnowledge } from '../../../src/agent/auto/network-knowledge.ts';
import { validateLaunch } from '../../../src/agent/launch/validate-launch.ts';

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

  it('is refused where it cannot be emulated, not ignored', () => {
    const launch = (network: unknown, nodes = ['this-computer']): unknown =>
      validateLaunch({
        workload: { model: 'fnn3', dataset: 'digits' },
        world: { ranks: 2, nodes },
        network,
      });
    const between = ['a', 'b'];
    const pairs = [{ between, bandwidth: '100 Mbit/s', latency: '1 ms' }];
    expect(parse({ bandwidth: '1 Gbit/s', pairs }).pairs).toEqual(pairs);
    expect(errorOf(() => launch({ bandwidth: 1e9, pairs }))).toMatchObject({
      code: 'NETWORK_UNSUPPORTED',
      place: 'network.pairs',
    });
    expect(errorOf(() => launch({ bandwidth: 1e9 }, between))).toMatchObject({
      code: 'NETWORK_UNSUPPORTED',
      place: 'network',
    });
    expect(launch({ bandwidth: 1e9 })).toMatchObject({ spec: { world: { ranks: 2 } } });
  });

  it('is described in words', () => {
    expect(describeEmulated({ bandwidth: 1e9, latency: 0.05 })).toBe(
      'emulated 1 Gbit/s, 50 µs',
    );
    expect(describeEmulated({ bandwidth: 2.5e9, latency: 0 })).toBe(
      'emulated 2.5 Gbit/s',
    );
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

  test('is what auto says it goes by', () => {
    const cost = emulatedCost({ bandwidth: 1e9, latency: 0 });
    expect(new NetworkKnowledge(cost, true).origin).toContain('emulated');
    expect(new NetworkKnowledge(cost).origin).not.toContain('emulated');
  });
});
