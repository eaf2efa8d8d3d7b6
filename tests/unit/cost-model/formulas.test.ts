/**
 * Every collective's cost against the formulas of the papers, term by term. Streams carry
 * a header of 8 bytes, which the formulas leave out: it is added here.
 */
import { describe, expect, test } from 'vitest';
import { RING_CHUNK_BYTES } from '../../../src/agent/collectives/ring.ts';
import type { ExchangeShape } from '../../../src/agent/collectives/collective.ts';
import {
  predict,
  predictAll,
  predictBroadcast,
  predictGather,
} from '../../../src/agent/collectives/prediction.ts';
import {
  collectives,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';
import { boundBy } from '../../../src/shared/cost-model/cost-terms.ts';
import { expectedUnion } from '../../../src/shared/cost-model/fill-in.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';

const HEADER = 8;
const PAIR = 8;
const α = 3;
const β = 5;
const γ = 7;
const network = { alpha: α, beta: β, gamma: γ };

const dense = (ranks: number, length: number): ExchangeShape => ({
  ranks,
  length,
  payloadBytes: 4 * length,
});

/** Far from δ, so that streams stay sparse. */
const N = 2 ** 40;
const sparse = (ranks: number, k: number, nnzReduced: number): ExchangeShape => ({
  ranks,
  length: N,
  payloadBytes: PAIR * k,
  nnz: k,
  nnzReduced,
});

const terms = (id: string, shape: ExchangeShape) =>
  predict(findCollective(id), shape, network);

const powers = [2, 4, 8, 16];

describe('dense costs', () => {
  const length = 5040;

  test.each([2, 3, 4, 5, 7, 8])('ring, P = %d', (P) => {
    const { latency, bandwidth, reduction } = terms('ring', dense(P, length));
    expect(latency).toBeCloseTo(2 * (P - 1) * α);
    expect(bandwidth).toBeCloseTo(((2 * (P - 1)) / P) * length * 4 * β);
    expect(reduction).toBeCloseTo(((P - 1) / P) * length * γ);
  });

  test('the ring sums all chunks but the last while the next is on its way', () => {
    const bytes = 4 * 4 * RING_CHUNK_BYTES;
    const { bandwidth, reduction } = terms('ring', dense(4, bytes / 4));
    expect(bandwidth).toBeCloseTo(1.5 * bytes * β);
    expect(reduction).toBeCloseTo((0.75 * (bytes / 4) * γ) / 4);
  });

  test.each(powers)('recursive doubling, P = %d', (P) => {
    const rounds = Math.log2(P);
    const cost = terms('recursive-doubling', dense(P, length));
    expect(cost.latency).toBe(rounds * α);
    expect(cost.bandwidth).toBe(rounds * length * 4 * β);
    expect(cost.reduction).toBe(rounds * length * γ);
  });

  test.each(powers)('Rabenseifner, P = %d', (P) => {
    const cost = terms('rabenseifner', dense(P, length));
    expect(cost.latency).toBe(2 * Math.log2(P) * α);
    expect(cost.bandwidth).toBeCloseTo(((2 * (P - 1)) / P) * length * 4 * β);
    expect(cost.reduction).toBeCloseTo(((P - 1) / P) * length * γ);
  });

  test.each([3, 5, 6, 7])('folds in pairs and unfolds, two messages: P = %d', (P) => {
    const core = 2 ** Math.floor(Math.log2(P));
    for (const id of ['recursive-doubling', 'rabenseifner']) {
      const folded = terms(id, dense(P, length));
      const whole = terms(id, dense(core, length));
      expect(folded.latency - whole.latency).toBeCloseTo(2 * α);
      expect(folded.bandwidth - whole.bandwidth).toBeCloseTo(2 * 4 * length * β);
    }
  });
});

describe('the parameter server', () => {
  const length = 5040;
  const k = 1000;
  const counts = [2, 3, 4, 7, 8].flatMap((P) =>
    [...new Set([1, 2, P])].map((S) => [P, S] as const),
  );

  test.each(counts)('P = %d, S = %d: what passes the link of a server', (P, S) => {
    const shape = { ...dense(P, length), servers: S };
    const cost = terms('parameter-server', shape);
    expect(cost.latency).toBe(2 * (P - 1) * α);
    expect(cost.bandwidth).toBeCloseTo(((2 * (P - 1)) / S) * length * 4 * β);
    expect(cost.reduction).toBeCloseTo(((P - 1) / S) * length * γ);
    // A server's own messages to the others, and its P − 1 replies.
    expect(cost.wireBytes).toBe(4 * ((1 - 1 / S) * length + ((P - 1) / S) * length));
  });

  test('a server of the longest part sends most', () => {
    const shape = { ...dense(3, 11), servers: 2 };
    // Parts of 5 and 6: 5 pushed, 6 sent back twice.
    expect(terms('parameter-server', shape).wireBytes).toBe(4 * (5 + 2 * 6));
  });

  test.each(counts)('P = %d, S = %d: sparse, disjoint or the same', (P, S) => {
    for (const K of [k, P * k]) {
      const cost = terms('parameter-server', { ...sparse(P, k, K), servers: S });
      expect(cost.latency).toBe(2 * (P - 1) * α);
      const bytes = ((P - 1) / S) * (k + K) * PAIR + 2 * (P - 1) * HEADER;
      expect(cost.bandwidth / (bytes * β)).toBeCloseTo(1, 6);
      const sent =
        ((S - 1) / S) * k * PAIR + ((P - 1) / S) * K * PAIR + (S + P - 2) * HEADER;
      expect(cost.wireBytes / sent).toBeCloseTo(1, 6);
    }
  });

  test('one server by default; of fewer ranks than servers all are', () => {
    const shape = dense(4, length);
    expect(terms('parameter-server', shape)).toEqual(
      terms('parameter-server', { ...shape, servers: 1 }),
    );
    expect(terms('parameter-server', { ...shape, servers: 9 })).toEqual(
      terms('parameter-server', { ...shape, servers: 4 }),
    );
  });
});

describe('sparse costs', () => {
  const k = 1000;

  test.each(powers)('recursive doubling between its two bounds, P = %d', (P) => {
    const rounds = Math.log2(P);
    const same = terms('ssar-recursive-doubling', sparse(P, k, k));
    expect(same.latency).toBe(rounds * α);
    expect(same.bandwidth).toBeCloseTo(rounds * (PAIR * k + HEADER) * β, 3);
    const disjoint = terms('ssar-recursive-doubling', sparse(P, k, P * k));
    expect(disjoint.latency).toBe(rounds * α);
    const bytes = (P - 1) * PAIR * k + rounds * HEADER;
    expect(disjoint.bandwidth / (bytes * β)).toBeCloseTo(1, 6);
  });

  test.each(powers)('split and allgather between its two bounds, P = %d', (P) => {
    // SparCML's L₂ has log₂P for the gather: here parts travel directly, as many messages as
    // before, but all at once. Where that was not measured each counts a whole α.
    const latency = 2 * (P - 1) * α;
    const headers = 2 * (P - 1) * HEADER;
    const same = terms('ssar-split-allgather', sparse(P, k, k));
    expect(same.latency).toBe(latency);
    const least = ((2 * (P - 1)) / P) * PAIR * k + headers;
    expect(same.bandwidth / (least * β)).toBeCloseTo(1, 6);
    const disjoint = terms('ssar-split-allgather', sparse(P, k, P * k));
    expect(disjoint.latency).toBe(latency);
    // (P−1)/P·k out and (P−1)·k in: at most the paper's P·k.
    const most = (P - 1 / P) * PAIR * k + headers;
    expect(disjoint.bandwidth / (most * β)).toBeCloseTo(1, 6);
    expect(most).toBeLessThanOrEqual(P * PAIR * k + headers);
  });

  test.each(powers)('dynamic split at most its bound, P = %d', (P) => {
    const shape = { ...sparse(P, k, P * k), length: 100_000 };
    const cost = terms('dsar-split-allgather', shape);
    expect(cost.latency).toBe((P - 1 + Math.log2(P)) * α);
    const exact = ((P - 1) / P) * (PAIR * k + 4 * shape.length) + (P - 1) * HEADER;
    expect(cost.bandwidth).toBeCloseTo(exact * β, 3);
    expect(exact).toBeLessThanOrEqual(
      PAIR * k + ((P - 1) / P) * 4 * shape.length + (P - 1) * HEADER,
    );
  });

  test.each([2, 3, 4, 7, 8])('gathering sends k to every other rank, P = %d', (P) => {
    const cost = terms('sparse-allgather', sparse(P, k, P * k));
    expect(cost.latency).toBe((P - 1) * α);
    expect(cost.bandwidth).toBe((P - 1) * PAIR * k * β);
  });

  test.each([2, 3, 4, 7, 8])('the ring passes the growing unions on, P = %d', (P) => {
    const cost = terms('sparse-ring', sparse(P, k, P * k));
    expect(cost.latency).toBe(2 * (P - 1) * α);
    let entries = 0;
    for (let united = 1; united < P; united++) entries += (united * k) / P + k;
    const bytes = entries * PAIR + 2 * (P - 1) * HEADER;
    expect(cost.bandwidth / (bytes * β)).toBeCloseTo(1, 6);
  });

  test('merges what it says: entries once a level, scattered where dense', () => {
    // Two ranks, k entries each, merged once.
    const pair = terms('ssar-recursive-doubling', sparse(2, k, 2 * k));
    expect(pair.reduction).toBeCloseTo(2 * k * 14 * γ, 3);
    const measured = { ...network, merge: 11, scatter: 13 };
    const { reduction } = predict(
      findCollective('ssar-recursive-doubling'),
      sparse(2, k, 2 * k),
      measured,
    );
    expect(reduction).toBeCloseTo(2 * k * 11, 3);
    const filled = { ...sparse(2, k, 2 * k), length: 3 * k };
    expect(
      predict(findCollective('ssar-recursive-doubling'), filled, measured).reduction,
    ).toBeCloseTo(3 * k * γ + 2 * k * 13, 3);
  });

  test('streams at δ travel dense', () => {
    const shape = { ...sparse(2, 500, 1000), length: 1000 };
    const cost = terms('ssar-recursive-doubling', shape);
    expect(cost.bandwidth).toBe((4 * 1000 + HEADER) * β);
    const below = { ...sparse(2, 499, 998), length: 1000 };
    expect(terms('ssar-recursive-doubling', below).bandwidth).toBe(
      (PAIR * 499 + HEADER) * β,
    );
  });
});

describe('E[K]', () => {
  test.each([
    [1000, 10, 1],
    [1000, 10, 4],
    [1000, 999, 7],
    [16_000_000, 125_000, 8],
  ])('N = %d, k = %d, P = %d is N·(1 − (1 − k/N)^P)', (length, nnz, ranks) => {
    const formula = length * (1 - (1 - nnz / length) ** ranks);
    expect(expectedUnion(length, nnz, ranks) / formula).toBeCloseTo(1, 9);
  });

  test('keeps its digits where hardly anything is sent', () => {
    expect(expectedUnion(1e12, 1, 1000)).toBeCloseTo(1000, 5);
  });

  test('ends at N, at k and at 0', () => {
    expect(expectedUnion(1000, 1000, 3)).toBe(1000);
    expect(expectedUnion(1000, 5000, 3)).toBe(1000);
    expect(expectedUnion(1000, 10, 1)).toBeCloseTo(10, 12);
    expect(expectedUnion(1000, 10, 1e6)).toBeCloseTo(1000, 6);
    expect(expectedUnion(1000, 0, 8)).toBeCloseTo(0);
    expect(expectedUnion(0, 0, 8)).toBe(0);
  });
});

describe('predictions', () => {
  test('whose terms add up to the collective’s own cost', () => {
    const measured = {
      ...LOOPBACK,
      merge: 9e-9,
      scatter: 2e-9,
      overhead: 1e-6,
      rates: [
        { bytes: 4096, beta: 1e-9 },
        { bytes: 65_536, beta: 3e-9 },
      ],
    };
    for (const collective of collectives.values()) {
      for (const ranks of [1, 2, 3, 8]) {
        const shape = { ranks, length: 50_000, payloadBytes: 16_000, nnz: 2000 };
        const { seconds } = predict(collective, shape, measured);
        expect(seconds).toBeCloseTo(collective.cost(shape, measured), 12);
      }
    }
  });

  test('stand in order', () => {
    const shape = { ranks: 8, length: 1e6, payloadBytes: 80_000, nnz: 10_000 };
    const all = predictAll('sparse', shape, LOOPBACK);
    const seconds = all.map((prediction) => prediction.seconds);
    expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
    expect(all.length).toBeGreaterThanOrEqual(5);
  });

  test('of whole payloads', () => {
    const shape = { ranks: 5, payloadBytes: 100 };
    expect(predictGather(shape, network)).toMatchObject({
      seconds: 4 * (α + 100 * β),
      wireBytes: 400,
    });
    expect(predictBroadcast(shape, network)).toMatchObject({
      seconds: 3 * (α + 100 * β),
      wireBytes: 300,
    });
    const alone = { ranks: 1, payloadBytes: 100 };
    expect(predictGather(alone, network).seconds).toBe(0);
    expect(predictBroadcast(alone, network).seconds).toBe(0);
  });

  test('name what a step waits for most', () => {
    const step = { compute: 1, compression: 2, latency: 3, bandwidth: 9, reduction: 4 };
    expect(boundBy(step)).toBe('bandwidth');
    expect(boundBy({ ...step, compute: 9 })).toBe('compute');
  });
});
