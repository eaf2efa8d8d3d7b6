/** Diagnostics of sparsifying methods, against their definitions in plain numbers. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import type { Similarity } from '../../../src/agent/methods/method.ts';
import { rankCorrelation } from '../../../src/agent/methods/rank-correlation.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

const N = 1000;
const K = 20;

function worldOf(ranks: number, diagnosticsEvery: number): SimulatedWorld {
  return new SimulatedWorld({
    method: 'scalecom',
    parameters: { ratio: K / N, selection: 'exact', beta: 0.3, diagnosticsEvery },
    ranks,
    length: N,
    makeKernels: (arena) => backends.wasm(arena).kernels,
  });
}

/** A common signal and noise of each rank's own. */
const gradients = (ranks: number, iteration: number): Float32Array[] => {
  const signal = bellShaped(N, 1000 + iteration);
  return Array.from({ length: ranks }, (_, rank) =>
    bellShaped(N, 10 * iteration + rank + 1).map((noise, i) => noise + 2 * signal[i]!),
  );
};

const magnitudeAt = (x: Float32Array, indices: readonly number[]): number =>
  indices.reduce((sum, i) => sum + Math.abs(x[i]!), 0);
const norm = (x: Float32Array): number => Math.hypot(...x);
const dot = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);
const largest = (x: Float32Array, k: number): number[] =>
  [...x.keys()].sort((i, j) => Math.abs(x[j]!) - Math.abs(x[i]!)).slice(0, k);

describe('how alike the ranks are', () => {
  it.each([2, 3, 5])('is as defined, on %i ranks', async (ranks) => {
    const world = worldOf(ranks, 3);
    for (let t = 0; t < 2; t++) await world.exchange(t, gradients(ranks, t));
    const residuals = Array.from({ length: ranks }, (_, rank) => world.residual(rank));
    const given = gradients(ranks, 2);
    await world.exchange(2, given);

    const p = given.map((gradient, rank) =>
      gradient.map((value, i) => value + 0.3 * residuals[rank]![i]!),
    );
    const y = p[0]!.map((_, i) => p.reduce((sum, own) => sum + own[i]!, 0));
    const chosen = largest(p[2 % ranks]!, K);
    const best = new Set(largest(y, K));
    const sent = chosen.reduce((sum, i) => sum + y[i]! ** 2, 0);
    const most = [...best].reduce((sum, i) => sum + y[i]! ** 2, 0);
    const distances: number[] = [];
    residuals.forEach((a, i) => {
      for (const b of residuals.slice(i + 1)) {
        distances.push(1 - dot(a, b) / (norm(a) * norm(b)));
      }
    });
    const hammingDistance = 1 - chosen.filter((i) => best.has(i)).length / K;
    const common = {
      residualDistance: distances.reduce((sum, d) => sum + d, 0) / distances.length,
      hammingDistance,
      magnitudeShare: magnitudeAt(y, chosen) / magnitudeAt(y, [...best]),
      contraction: 1 - sent / norm(y) ** 2,
      // Lemma 1: d/k + (1 − d/k)·γ₀.
      contractionBound:
        hammingDistance + (1 - hammingDistance) * (1 - most / norm(y) ** 2),
    };
    expect(common.contraction).toBeLessThan(common.contractionBound);
    for (const [rank, { similarity }] of world.statistics.entries()) {
      const correlation = rankCorrelation(p[rank]!.map(Math.abs), y.map(Math.abs))!;
      for (const [key, value] of Object.entries({
        ...common,
        rankCorrelation: correlation,
      })) {
        expect(similarity![key as keyof Similarity]).toBeCloseTo(value, 5);
      }
    }
    // A signal in common: neither alike in everything nor strangers.
    expect(common.residualDistance).toBeGreaterThan(0.05);
    expect(common.residualDistance).toBeLessThan(0.6);
  });

  it('is a number or absent, whatever the scale', async () => {
    for (const scale of [1e-44, 1e-40, 1e-38, 1e-30, 1e30]) {
      const world = worldOf(2, 1);
      for (let t = 0; t < 3; t++) {
        const given = gradients(2, t).map((own) => own.map((x) => x * scale));
        await world.exchange(t, given);
        for (const { similarity } of world.statistics) {
          const numbers = Object.values(similarity!);
          expect(numbers.every(Number.isFinite), `${scale}: ${numbers}`).toBe(true);
        }
      }
    }
  });

  it('is observed when it is due, and changes nothing', async () => {
    const observed = worldOf(3, 2);
    const plain = worldOf(3, 0);
    const due: boolean[] = [];
    for (let t = 0; t < 5; t++) {
      const given = gradients(3, t);
      expect(await observed.exchange(t, given)).toEqual(await plain.exchange(t, given));
      due.push(observed.statistics[0]!.similarity !== undefined);
      expect(plain.statistics[0]).not.toHaveProperty('similarity');
    }
    expect(due).toEqual([false, true, false, true, false]);
    expect(observed.residual(1)).toEqual(plain.residual(1));
  });

  it('is absent where there is nothing to compare', async () => {
    const world = worldOf(2, 1);
    await world.exchange(0, [new Float32Array(N), new Float32Array(N)]);
    expect(world.statistics[0]!.similarity).toEqual({});
    const alone = worldOf(1, 1);
    for (let t = 0; t < 2; t++) await alone.exchange(t, gradients(1, t));
    const { similarity } = alone.statistics[0]!;
    expect(similarity).not.toHaveProperty('residualDistance');
    expect(similarity).toMatchObject({ hammingDistance: 0, rankCorrelation: 1 });
  });
});

describe('how far ranks that choose for themselves are from a common choice', () => {
  const local = (method: string, parameters: JsonObject, ranks = 3): SimulatedWorld =>
    new SimulatedWorld({
      method,
      parameters,
      ranks,
      length: N,
      makeKernels: (arena) => backends.wasm(arena).kernels,
    });

  it('is as defined, under top-k', async () => {
    const ranks = 3;
    const world = local('topk', { ratio: K / N, diagnosticsEvery: 3 });
    for (let t = 0; t < 2; t++) await world.exchange(t, gradients(ranks, t));
    const residuals = Array.from({ length: ranks }, (_, rank) => world.residual(rank));
    const given = gradients(ranks, 2);
    await world.exchange(2, given);

    const p = given.map((own, rank) => own.map((x, i) => x + residuals[rank]![i]!));
    const average = (vectors: readonly Float32Array[]): Float32Array =>
      vectors[0]!.map((_, i) => vectors.reduce((sum, x) => sum + x[i]!, 0) / ranks);
    const topK = (x: Float32Array): Float32Array => {
      const kept = new Set(largest(x, K));
      return x.map((value, i) => (kept.has(i) ? value : 0));
    };
    const y = average(p);
    const together = average(p.map(topK));
    const selectionDistance =
      norm(topK(y).map((value, i) => value - together[i]!)) / norm(average(given));
    const best = largest(y, K);
    for (const [rank, { similarity }] of world.statistics.entries()) {
      const chosen = largest(p[rank]!, K);
      const share = magnitudeAt(y, chosen) / magnitudeAt(y, best);
      expect(similarity!.selectionDistance).toBeCloseTo(selectionDistance, 4);
      expect(similarity!.magnitudeShare).toBeCloseTo(share, 5);
    }
    expect(selectionDistance).toBeGreaterThan(0.1);
  });

  it('is as defined, of sums of velocities, under DGC', async () => {
    const ranks = 3;
    const momentum = 0.5;
    const ratio = K / N;
    const world = local('dgc', { ratio, momentum, diagnosticsEvery: 3 });
    const zeros = (): Float32Array[] =>
      Array.from({ length: ranks }, () => new Float32Array(N));
    const velocities = zeros();
    let kept = zeros();
    let [before, sums] = [kept, kept];
    for (let t = 0; t < 3; t++) {
      before = kept;
      sums = gradients(ranks, t).map((own, rank) =>
        own.map((x, i) => {
          velocities[rank]![i] = momentum * velocities[rank]![i]! + x;
          return kept[rank]![i]! + velocities[rank]![i]!;
        }),
      );
      kept = sums.map((sum, rank) => {
        const rest = sum.slice();
        for (const i of largest(sum, K)) rest[i] = velocities[rank]![i] = 0;
        return rest;
      });
      await world.exchange(t, gradients(ranks, t));
    }
    const average = (vectors: readonly Float32Array[]): Float32Array =>
      vectors[0]!.map((_, i) => vectors.reduce((sum, x) => sum + x[i]!, 0) / ranks);
    const y = average(sums);
    const sent = average(
      sums.map((sum, rank) => sum.map((x, i) => x - kept[rank]![i]!)),
    );
    const best = largest(y, K);
    const distance = norm(sent.map((x, i) => (best.includes(i) ? y[i]! : 0) - x));
    const cosine = (a: Float32Array, b: Float32Array): number =>
      dot(a, b) / (norm(a) * norm(b));
    const pairs = [
      [0, 1],
      [0, 2],
      [1, 2],
    ] as const;
    const apart = pairs.map(([a, b]) => 1 - cosine(before[a]!, before[b]!));
    for (const [rank, { similarity }] of world.statistics.entries()) {
      const share = magnitudeAt(y, largest(sums[rank]!, K)) / magnitudeAt(y, best);
      expect(similarity!.magnitudeShare).toBeCloseTo(share, 5);
      expect(similarity!.selectionDistance).toBeCloseTo(
        distance / norm(average(gradients(ranks, 2))),
        4,
      );
      expect(similarity!.residualDistance).toBeCloseTo(
        apart.reduce((sum, one) => sum + one, 0) / pairs.length,
        5,
      );
    }
  });

  it.each([
    ['dgc', { ratio: 0.02 }],
    ['dgc', { ratio: 0.02, clip: 1, factorMasking: false }],
    ['topk', { ratio: 0.02 }],
    ['gaussiank', { ratio: 0.02 }],
    ['threshold', { threshold: 2 }],
    ['dct', { ratio: 0.02 }],
    ['topk', { ratio: 0.02, warmupIterations: 2 }],
  ])('is observed under %s %j, and changes nothing', async (method, parameters) => {
    const observed = local(method, { ...parameters, diagnosticsEvery: 2 });
    const plain = local(method, parameters);
    for (let t = 0; t < 4; t++) {
      const given = gradients(3, t);
      expect(await observed.exchange(t, given)).toEqual(await plain.exchange(t, given));
    }
    expect(observed.statistics[0]!.similarity).toHaveProperty('selectionDistance');
    expect(observed.residual(1)).toEqual(plain.residual(1));
  });

  it('is absent where nothing is chosen, and 0 on one rank', async () => {
    const world = local('topk', { ratio: 0.02, diagnosticsEvery: 1 }, 2);
    await world.exchange(0, [new Float32Array(N), new Float32Array(N)]);
    expect(world.statistics[0]!.similarity).toEqual({});
    const alone = local('topk', { ratio: 0.02, diagnosticsEvery: 1 }, 1);
    await alone.exchange(0, gradients(1, 0));
    expect(alone.statistics[0]!.similarity).toMatchObject({
      selectionDistance: 0,
      magnitudeShare: 1,
    });
  });
});

describe('the rank correlation', () => {
  const of = (a: number[], b: number[]): number | undefined =>
    rankCorrelation(Float32Array.from(a), Float32Array.from(b));

  it.each([
    [[1, 2, 3], [10, 200, 3000], 1],
    [[1, 2, 3], [3, 2, 1], -1],
    // 1 − 6·Σd²/(n(n² − 1)), Σd² = 4, n = 5
    [[1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8],
    // Ties share their places: 0.5, 0.5, 2 and 0, 1, 2.
    [[1, 1, 2], [1, 2, 3], 1.5 / Math.sqrt(3)],
    [[1, 1], [1, 2], undefined],
    [[], [], undefined],
  ])('of %j and %j is %d', (a, b, expected) => {
    if (expected === undefined) expect(of(a, b)).toBeUndefined();
    else expect(of(a, b)).toBeCloseTo(expected, 12);
  });
});
