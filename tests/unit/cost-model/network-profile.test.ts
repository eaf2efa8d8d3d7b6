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

  test('goes by the slowest pair where no load was measured', () => {
    expect(worstPair(profile)).toMatchObject({ ranks: [0, 2] });
    expect(networkCostOf({ ...profile, loaded: [] }, 3)).toMatchObject({
      alpha: 2e-5,
      beta: 8e-9,
    });
    expect(medianPair(profile)).toEqual({ alpha: 2e-5, beta: 2e-9 });
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
