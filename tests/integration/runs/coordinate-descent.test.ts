/**
 * Random block coordinate descent against a plain loop over samples and coordinates in numbers
 * of 64 bits, with random numbers of its own: the same losses in every iteration, for 1, 2 and 3
 * ranks; and to the minimum of a strongly convex problem.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { effort } from '../../harness/effort.ts';
import { ofType } from '../../harness/records.ts';
import {
  FEATURES,
  samples,
  SAMPLES,
  smallestLoss,
  writeSamples,
  type Sample,
} from './logistic-problem.ts';
import { SupervisorNode } from './supervisor-node.ts';

const RATE = 0.5;
const SEED = 23;
/** Iterations that are compared one by one. */
const LENGTH = 20;
/** The features' weights, and the bias. */
const N = FEATURES + 1;

let node: SupervisorNode;
let file: string;
beforeAll(async () => {
  node = await SupervisorNode.start();
  file = writeSamples(node.home.directory);
});
afterAll(() => node[Symbol.asyncDispose]());

/** Every batch is all of a rank's shard, unless the settings have another. */
const train = (
  ranks: number,
  settings: Readonly<Record<string, unknown>>,
  switches: Parameters<SupervisorNode['train']>[1] = [],
): Promise<readonly RunRecord[]> =>
  node.train(
    {
      workload: {
        model: 'logistic-regression',
        dataset: 'svmlight',
        data: file,
        features: FEATURES,
        batchPerRank: SAMPLES / ranks,
      },
      optimizer: { lr: RATE, momentum: 0 },
      ...{ seed: SEED, world: { ranks }, evaluateEvery: 1, iterations: 40 },
      ...settings,
    },
    switches,
  );

/** Philox 4×32-10 by its paper, in whole numbers without a bound. */
function philox(key: readonly bigint[], counter: readonly bigint[]): readonly bigint[] {
  const word = 2n ** 32n;
  let [a, b, c, d] = counter as [bigint, bigint, bigint, bigint];
  let [k, l] = key as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const [x, y] = [0xd2511f53n * a, 0xcd9e8d57n * c];
    [a, b, c, d] = [(y / word) ^ b ^ k, y % word, (x / word) ^ d ^ l, x % word];
    [k, l] = [(k + 0x9e3779b9n) % word, (l + 0xbb67ae85n) % word];
  }
  return [a, b, c, d];
}

/** Floyd's sample of k of n: two words a draw, of which 53 bits are taken. */
function sampled(n: number, k: number, rank: number, iteration: number): Set<number> {
  const wordAt = (index: number): bigint =>
    philox(
      [BigInt(SEED), BigInt(rank)],
      [BigInt(Math.floor(index / 4)), 0n, BigInt(iteration), 0x626c6f63n],
    )[index % 4]!;
  const chosen = new Set<number>();
  for (let draw = 0; draw < k; draw++) {
    const last = n - k + draw;
    const bits = (wordAt(2 * draw) << 21n) | (wordAt(2 * draw + 1) >> 11n);
    const place = Number((bits * BigInt(last + 1)) >> 53n);
    chosen.add(chosen.has(place) ? last : place);
  }
  return chosen;
}

const margin = ({ features, label }: Sample, w: readonly number[]): number =>
  label * features.reduce((sum, j) => sum + w[j]!, w[FEATURES]!);

const meanLoss = (of: readonly Sample[], w: readonly number[]): number =>
  of.reduce((sum, one) => sum + Math.log1p(Math.exp(-margin(one, w))), 0) / of.length;

function slope(of: readonly Sample[], w: readonly number[], j: number): number {
  const used = of.filter(({ features }) => j === FEATURES || features.includes(j));
  const sum = used.reduce(
    (total, one) => total - one.label / (1 + Math.exp(margin(one, w))),
    0,
  );
  return sum / of.length;
}

/** Losses over all samples after each iteration, and each rank's over its own before it. */
function plainLoop(ranks: number, k: number, iterations: number) {
  const shards = Array.from({ length: ranks }, (_, rank) =>
    samples.filter((_one, i) => i % ranks === rank),
  );
  const w = new Array<number>(N).fill(0);
  const own: number[][] = [];
  const all: number[] = [];
  for (let t = 0; t < iterations; t++) {
    own.push(shards.map((shard) => meanLoss(shard, w)));
    const before = [...w];
    for (const [rank, shard] of shards.entries()) {
      const slice = (rank + t) % ranks;
      const start = Math.floor((slice * N) / ranks);
      const length = Math.floor(((slice + 1) * N) / ranks) - start;
      for (const place of sampled(length, Math.min(k, length), rank, t)) {
        w[start + place]! -= RATE * slope(shard, before, start + place);
      }
    }
    all.push(meanLoss(samples, w));
  }
  return { own, all };
}

describe.each(effort({ quick: [3], soak: [1, 2, 3] }))('%i ranks', (ranks) => {
  // 100: more than there are in a slice.
  it.each(effort({ quick: [2], soak: [1, 2, 100] }))(
    'take the steps of a plain loop, k = %i',
    async (k) => {
      const records = await train(ranks, {
        exchange: { method: 'blockcd', k },
        iterations: LENGTH,
      });
      expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
      const expected = plainLoop(ranks, k, LENGTH);
      const evaluations = ofType(records, 'evaluation');
      expect(evaluations.map(({ iteration }) => iteration)).toEqual([
        ...Array(LENGTH).keys(),
      ]);
      for (const { iteration, loss } of evaluations) {
        expect(loss).toBeCloseTo(expected.all[iteration]!, 4);
      }
      for (const { iteration, rank, loss } of ofType(records, 'iteration')) {
        expect(loss).toBeCloseTo(expected.own[iteration]![rank]!, 4);
      }
    },
  );

  it(
    'sends 8 bytes for each of k coordinates to each other rank',
    { tags: 'soak' },
    async () => {
      // Ranks say a few words more in every iteration, whatever they exchange.
      const sent = async (k: number): Promise<readonly number[]> => {
        const records = await train(ranks, {
          exchange: { method: 'blockcd', k, collective: 'sparse-allgather' },
          evaluateEvery: 0,
          iterations: 10,
        });
        const iterations = ofType(records, 'iteration').toSorted(
          (a, b) => a.iteration - b.iteration || a.rank - b.rank,
        );
        for (const { bytes, nnzLocal } of iterations) {
          expect(bytes.payload).toBe(8 * k);
          expect(nnzLocal).toBe(k);
        }
        return iterations.map(({ bytes }) => bytes.wireSent! - bytes.framingSent!);
      };
      const [few, more] = [await sent(1), await sent(3)];
      expect(more.map((bytes, i) => bytes - few[i]!)).toEqual(
        new Array<number>(10 * ranks).fill(8 * 2 * (ranks - 1)),
      );
    },
  );
});

describe('the minimum of a strongly convex problem', () => {
  const gap = (records: readonly RunRecord[]): number =>
    (ofType(records, 'evaluation').at(-1)!.loss ?? NaN) - smallestLoss();
  const reached = async (
    ranks: number,
    k: number,
    optimizer: Readonly<Record<string, unknown>>,
    iterations: number,
  ): Promise<number> =>
    gap(
      await train(ranks, {
        iterations,
        evaluateEvery: iterations,
        exchange: { method: 'blockcd', k },
        optimizer: { momentum: 0, ...optimizer },
      }),
    );

  it('is reached by one rank that has all samples', async () => {
    expect(Math.abs(await reached(1, 6, { lr: 1.5 }, 250))).toBeLessThan(3e-5);
  });

  it(
    'is reached by three with gradients that are corrected by full ones',
    { tags: 'soak' },
    async () => {
      const corrected = { lr: 1, fullGradientEvery: 20 };
      expect(Math.abs(await reached(3, 2, corrected, 400))).toBeLessThan(3e-5);
    },
  );

  it('is come near by three without, as the rate falls', { tags: 'soak' }, async () => {
    const falling = { lr: RATE, schedule: 'polynomial', power: 1 };
    // With slices that stay where they are a rank's samples alone would move a weight: 0.26.
    expect(await reached(3, 1, falling, 600)).toBeLessThan(5e-3);
  });
});

it('begins and ends by a switch, with what the residual held applied first', async () => {
  const records = await train(2, { exchange: { method: 'topk', k: 2 } }, [
    { at: 10, change: { method: 'blockcd', k: 2 } },
    { at: 20, change: { method: 'none' } },
  ]);
  const done = records.at(-1) as DoneRecord;
  expect(done).toMatchObject({ type: 'done', iterations: 40, consistent: true });
  expect(
    ofType(records, 'switch').map(({ fence, residual }) => [fence, residual]),
  ).toEqual([
    [10, 'flushed'],
    [20, 'none'],
  ]);
  const payloads = ofType(records, 'iteration')
    .filter(({ rank, iteration }) => rank === 0 && iteration >= 10)
    .map(({ bytes }) => bytes.payload);
  expect(payloads).toEqual([
    ...new Array<number>(10).fill(16),
    ...new Array<number>(20).fill(4 * N),
  ]);
});

it('is refused beside weight decay, at launch and by a switch', async () => {
  const decays = { optimizer: { lr: RATE, momentum: 0, weightDecay: 0.01 } };
  const blockcd = { method: 'blockcd' };
  await expect(train(2, { ...decays, exchange: blockcd })).rejects.toMatchObject({
    code: 'METHOD_OPTIMIZER_MISFIT',
    place: 'exchange.method',
    message: expect.stringContaining('a weight decay of 0.01') as string,
  });
  await expect(train(2, decays, [{ at: 3, change: blockcd }])).rejects.toMatchObject({
    code: 'METHOD_OPTIMIZER_MISFIT',
  });
});
