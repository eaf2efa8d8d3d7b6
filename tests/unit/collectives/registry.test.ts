import { describe, expect, test } from 'vitest';
import { allgather } from '../../../src/agent/collectives/allgather.ts';
import { barrier } from '../../../src/agent/collectives/barrier.ts';
import { broadcast } from '../../../src/agent/collectives/broadcast.ts';
import { gather } from '../../../src/agent/collectives/gather.ts';
import { reduceScatter } from '../../../src/agent/collectives/reduce-scatter.ts';
import { predictAll } from '../../../src/agent/collectives/prediction.ts';
import {
  assertFits,
  chooseCollective,
  collectives,
  collectivesFor,
  describeCollectives,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';

describe('the registry', () => {
  test('gives every collective and primitive a code of its own', () => {
    const codes = [...collectives.values()].map(({ code }) => code);
    const taken = [
      ...codes,
      gather.code,
      broadcast.code,
      allgather.code,
      reduceScatter.code,
      barrier.code,
    ];
    expect(new Set(taken).size).toBe(taken.length);
    expect(codes.every((code) => code > 0 && code < 1000)).toBe(true);
  });

  test('never renumbers: the codes travel between versions', () => {
    expect(
      Object.fromEntries([...collectives.values()].map(({ id, code }) => [id, code])),
    ).toEqual({
      ring: 1,
      'recursive-doubling': 2,
      'sparse-allgather': 3,
      rabenseifner: 4,
      'ssar-recursive-doubling': 5,
      'ssar-split-allgather': 6,
      'dsar-split-allgather': 7,
      'sparse-ring': 8,
      'scatter-reduce-allgather': 9,
      'ok-topk': 10,
      hierarchical: 11,
      'ssar-hierarchical': 12,
      'parameter-server': 13,
    });
  });

  test('describes each as the catalogue shows it', () => {
    expect(describeCollectives().map(({ id }) => id)).toEqual([...collectives.keys()]);
    for (const entry of describeCollectives()) {
      expect(entry.title && entry.summary && entry.source).toBeTruthy();
      expect(Object.keys(entry)).not.toContain('run');
    }
  });

  test('suggests the nearest id for one it does not know', () => {
    expect(() => findCollective('rign')).toThrow(
      expect.objectContaining({
        code: 'COLLECTIVE_UNKNOWN',
        kind: 'input',
        next: 'Did you mean "ring"?',
      }),
    );
    expect(() => findCollective('xxxxxxxxxxxxxxxxxxxxxxxx')).toThrow(
      expect.objectContaining({ next: expect.stringContaining('ring, ') as string }),
    );
  });

  test('refuses a payload that a collective does not take, and says what does', () => {
    const refused = () => {
      assertFits(findCollective('ring'), 'sparse', 'topk');
    };
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'COLLECTIVE_MISFIT',
        message:
          'ring accepts dense or scalars payloads, but topk produces sparse ones',
        next: expect.stringMatching(
          /^Use collective=ssar-recursive-doubling or .* or collective=auto\.$/,
        ) as string,
      }),
    );
    for (const kind of ['dense', 'sparse', 'scalars'] as const) {
      for (const collective of collectivesFor(kind)) {
        assertFits(collective, kind, 'any');
      }
    }
  });
});

describe('auto', () => {
  const dense = (ranks: number, length: number) =>
    chooseCollective('dense', { ranks, length, payloadBytes: 4 * length }).id;

  test.each([2, 3, 4, 8])('doubles for few bytes: P = %d', (ranks) => {
    expect(dense(ranks, 2)).toBe('recursive-doubling');
  });

  test.each([5, 7])('folds no ranks for more bytes: P = %d', (ranks) => {
    expect(dense(ranks, 100_000)).toBe('scatter-reduce-allgather');
  });

  test.each([4, 8, 16])('halves and doubles where no rank folds: P = %d', (ranks) => {
    expect(dense(ranks, 100_000)).toBe('rabenseifner');
  });

  test.each([2, 3, 4, 5, 7, 8, 16])(
    'passes chunks on, and sums them meanwhile, for many bytes: P = %d',
    (ranks) => {
      expect(dense(ranks, 10_000_000)).toBe('ring');
    },
  );

  const sparse = (ranks: number, length: number, nnz: number, nnzReduced?: number) => {
    const network = { alpha: 50e-6, beta: 8e-9, gamma: 0.3e-9 };
    const shape = { ranks, length, payloadBytes: 8 * nnz, nnz, nnzReduced };
    return chooseCollective('sparse', shape, network).id;
  };

  test('doubles for few entries, splits for many, goes dense where they fill in', () => {
    expect(sparse(8, 16e6, 100)).toBe('ssar-recursive-doubling');
    expect(sparse(8, 16e6, 300_000)).toBe('ssar-split-allgather');
    expect(sparse(8, 16e6, 4e6)).toBe('dsar-split-allgather');
  });

  test('goes by the fill-in that was observed', () => {
    // Indices that are all the same never fill in, however many ranks there are.
    expect(sparse(64, 1e6, 20_000)).toBe('dsar-split-allgather');
    expect(sparse(64, 1e6, 20_000, 20_000)).toBe('ssar-split-allgather');
  });

  test.each([1, 2, 3, 8, 100])('knows what streams cost: P = %d', (ranks) => {
    for (const { cost, wireBytes } of collectivesFor('sparse')) {
      const network = { alpha: 1e-5, beta: 1e-9, gamma: 1e-10 };
      let before = -1;
      for (const nnz of [0, 10, 1000, 30_000]) {
        const shape = { ranks, length: 60_000, payloadBytes: 8 * nnz, nnz };
        const seconds = cost(shape, network);
        expect(seconds).toBeGreaterThanOrEqual(before);
        expect(Number.isFinite(wireBytes(shape))).toBe(true);
        before = seconds;
      }
      const nothing = { ranks, length: 0, payloadBytes: 0, nnz: 0 };
      expect(Number.isFinite(cost(nothing, network))).toBe(true);
    }
  });

  test('never takes one that leaves entries out of the sum', () => {
    expect(collectivesFor('sparse')).toContain(findCollective('ok-topk'));
    const free = { alpha: 0, beta: 1, gamma: 0 };
    const shape = { ranks: 16, length: 1e6, payloadBytes: 80_000, nnz: 10_000 };
    const all = predictAll('sparse', shape, free);
    expect(all.map(({ collective }) => collective)).not.toContain('ok-topk');
    // Not for its bytes: they are the fewest.
    const { wireBytes } = findCollective('ok-topk');
    expect(wireBytes(shape)).toBeLessThan(all[0]!.wireBytes);
    expect(chooseCollective('sparse', shape, free).id).toBe(all[0]!.collective);
  });

  test('never takes one that has servers, though it may be the cheapest', () => {
    // Three ranks fold, double and unfold: three latencies, where a server takes two.
    const free = { alpha: 1, overhead: 0, beta: 1e-9, gamma: 0 };
    const shape = { ranks: 3, length: 2, payloadBytes: 8 };
    const all = predictAll('dense', shape, free);
    const { cost } = findCollective('parameter-server');
    expect(cost(shape, free)).toBeLessThan(all[0]!.seconds);
    expect(all.map(({ collective }) => collective)).not.toContain('parameter-server');
    expect(chooseCollective('dense', shape, free).id).toBe(all[0]!.collective);
    expect(
      describeCollectives()
        .filter(({ hasServers }) => hasServers === true)
        .map(({ id }) => id),
    ).toEqual(['parameter-server']);
  });

  test('says where nothing fits', () => {
    const shape = { ranks: 4, length: 1000, payloadBytes: 80 };
    expect(() => chooseCollective('quantized', shape)).toThrow(
      expect.objectContaining({ code: 'COLLECTIVE_MISFIT' }),
    );
  });

  test('depends on the network: latency favours doubling, bandwidth the ring', () => {
    const shape = { ranks: 8, length: 100_000, payloadBytes: 400_000 };
    const pick = (alpha: number, beta: number) =>
      chooseCollective('dense', shape, { alpha, beta, gamma: 0 }).id;
    expect(pick(1, 1e-9)).toBe('recursive-doubling');
    expect(pick(1e-9, 1)).not.toBe('recursive-doubling');
  });

  test('costs nothing in a world of one', () => {
    const network = { alpha: 1, beta: 1, gamma: 1 };
    const shape = { ranks: 1, length: 10, payloadBytes: 40, nnz: 5 };
    for (const collective of collectives.values()) {
      expect(collective.cost(shape, network)).toBe(0);
      expect(collective.wireBytes(shape)).toBe(0);
    }
  });
});
