import { describe, expect, test } from 'vitest';
import {
  medianPair,
  networkCostOf,
  parseNetworkProfile,
  worstPair,
  type NetworkProfile,
} from '../../../src/shared/cost-model/network-profile.ts';

const kernels = {
  add: 1e-10,
  merge: 2e-9,
  scatter: 1e-9,
  select: 1e-9,
  quantize: 2e-9,
  dequantize: 1e-9,
};

const profile: NetworkProfile = {
  version: 1,
  measuredAt: 0,
  transport: 'tcp',
  nodes: ['a', 'a', 'b'],
  pairs: [
    { ranks: [0, 1], alpha: 1e-5, beta: 1e-9 },
    { ranks: [0, 2], alpha: 2e-5, beta: 8e-9 },
    { ranks: [1, 2], alpha: 9e-5, beta: 2e-9 },
  ],
  loaded: [
    { ranks: 2, alpha: 3e-5, beta: 3e-9 },
    { ranks: 8, alpha: 7e-5, beta: 7e-9 },
  ],
  kernels,
};

describe('a network profile', () => {
  test('gives the constants of the load nearest to a world', () => {
    const at = (ranks: number) => networkCostOf(profile, ranks).alpha;
    expect([1, 2, 3].map(at)).toEqual([3e-5, 3e-5, 3e-5]);
    expect([4, 8, 100_000].map(at)).toEqual([7e-5, 7e-5, 7e-5]);
    expect(networkCostOf(profile, 2)).toEqual({
      alpha: 3e-5,
      beta: 3e-9,
      gamma: 1e-10,
      merge: 2e-9,
      scatter: 1e-9,
    });
  });

  test('lets fewer ranks share the cores less than those that were measured', () => {
    const nodes = ['a', 'a', 'a', 'a', 'b', 'b'];
    const crowded = { ...profile, nodes, cores: 2 };
    const gamma = (ranks: number) => networkCostOf(crowded, ranks).gamma / kernels.add;
    // Four ranks on two cores were timed; more ranks are as those.
    expect([1, 2, 3, 4, 6, 100].map(gamma)).toEqual([0.5, 0.5, 0.75, 1, 1, 1]);
    expect(networkCostOf(crowded, 2).merge).toBe(kernels.merge / 2);
  });

  test('uses the slowest pair if no load was measured', () => {
    expect(worstPair(profile)).toMatchObject({ ranks: [0, 2] });
    expect(networkCostOf({ ...profile, loaded: [] }, 3)).toMatchObject({
      alpha: 2e-5,
      beta: 8e-9,
    });
    expect(medianPair(profile)).toEqual({ alpha: 2e-5, beta: 2e-9 });
  });

  test('gives α, β by size and o of a load, as far as they were measured', () => {
    const messages = [
      { bytes: 8, seconds: 1e-5 },
      { bytes: 1000, seconds: 3e-5 },
      { bytes: 1e6, seconds: 9e-6 },
    ];
    const of = (load: object) =>
      networkCostOf(
        { ...profile, loaded: [{ ranks: 4, alpha: 5e-5, beta: 5e-9, ...load }] },
        4,
      );
    const sized = of({ messages });
    expect(sized).toMatchObject({ alpha: 1e-5, beta: 5e-9 });
    expect(sized.rates).toEqual([
      { bytes: 1000, beta: expect.closeTo(2e-8, 12) as number },
      // Less than α: noise, which must not make bytes pay.
      { bytes: 1e6, beta: 0 },
    ]);
    expect(sized.overhead).toBeUndefined();
    const burst = (seconds: number) => [{ bytes: 8, seconds }];
    const overhead = (seconds: number) =>
      of({ messages, bursts: burst(seconds) }).overhead;
    expect(overhead(1.4e-5)).toBeCloseTo(2e-6, 12);
    expect(overhead(9e-6)).toBe(0);
    expect(overhead(1)).toBe(1e-5);
    expect(of({ messages: messages.slice(0, 1) })).toMatchObject({ alpha: 5e-5 });
    expect(of({ bursts: burst(1) }).overhead).toBeUndefined();
  });

  test('gives the collectives that were timed in such a world', () => {
    const timed = (ranks: number) => ({
      collective: 'ring',
      ranks,
      length: 100,
      seconds: 2,
      predicted: 1,
    });
    const collectives = [timed(2), timed(4)];
    expect(networkCostOf({ ...profile, collectives }, 4).timed?.collectives).toEqual([
      timed(4),
    ]);
    expect(networkCostOf({ ...profile, collectives }, 3).timed?.collectives).toEqual(
      [],
    );
    expect(networkCostOf(profile, 4).timed).toBeUndefined();
  });

  test('survives JSON', () => {
    const read = parseNetworkProfile(JSON.parse(JSON.stringify(profile)), 'p.json');
    expect(read).toEqual(profile);
  });

  test.each([
    ['a wrong version', { ...profile, version: 2 }, 'NETWORK_PROFILE_INVALID'],
    [
      'a negative α',
      { ...profile, loaded: [{ ranks: 2, alpha: -1, beta: 0 }] },
      'NETWORK_PROFILE_INVALID',
    ],
    ['an unknown key', { ...profile, pears: [] }, 'NETWORK_PROFILE_UNKNOWN_KEY'],
    [
      'nothing measured',
      { ...profile, pairs: [], loaded: [] },
      'NETWORK_PROFILE_INVALID',
    ],
    ['no object', 'x', 'NETWORK_PROFILE_INVALID'],
  ])('is refused with %s', (_, raw, code) => {
    expect(() => parseNetworkProfile(raw, 'p.json')).toThrow(
      expect.objectContaining({ code, kind: 'input', place: 'p.json' }),
    );
  });
});
