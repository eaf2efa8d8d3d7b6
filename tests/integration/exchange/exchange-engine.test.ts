/**
 * Exchange engines of P ranks over real TCP sockets. Gradients are small integers and P a
 * power of two, so every sum and every average is exact: what went in must come out.
 */
import { afterEach, describe, expect, it } from 'vitest';
import {
  applied,
  connectRanks,
  element,
  given,
  leave,
  N,
  planSwitch,
  step,
} from './engine-ranks.ts';

const P = 4;

afterEach(leave);

describe('the exchange engine', () => {
  it.each([[{ method: 'none' }], [{ method: 'none', bucketBytes: 500 }]])(
    'applies all of every gradient with %j',
    async (exchange) => {
      expect(await applied(await connectRanks(exchange), 5)).toEqual(given(5));
    },
  );

  it.each([
    // Levels for all integers up to 8: nothing is left to chance.
    [{ method: 'qsgd', levels: 8, minElements: 0 }],
    [{ method: 'qsgd', levels: 8, minElements: 100, coding: 'elias' }],
    [{ method: 'qsgd', levels: 8, minElements: 0, bucketBytes: 500 }],
  ])('gathers all of every gradient with %j', async (exchange) => {
    expect(await applied(await connectRanks(exchange), 3)).toEqual(given(3));
  });

  it('gathers sparse values of two bits, whose rest the residual keeps', async () => {
    const quantized = { method: 'topk', ratio: 0.05, quantize: { bits: 2, bucket: 8 } };
    const ranks = await connectRanks(quantized, [
      planSwitch(1, 3, { method: 'topk', ratio: 0.05 }),
      planSwitch(2, 5, quantized),
      planSwitch(3, 7, { method: 'none' }),
    ]);
    expect(await applied(ranks, 8)).toEqual(given(8));
  });

  it('loses nothing over a switch that flushes the residual', async () => {
    const ranks = await connectRanks({ method: 'topk', ratio: 0.05 }, [
      planSwitch(1, 6, { method: 'none' }),
    ]);
    expect(await applied(ranks, 8)).toEqual(given(8));
  });

  it.each([
    { method: 'topk', k: 2, bucket: 64 },
    { method: 'topk', ratio: 0.05, warmupIterations: 3 },
    { method: 'randomk', ratio: 0.05 },
    { method: 'threshold', threshold: 9 },
    { method: 'gaussiank', ratio: 0.05 },
    { method: 'dct', ratio: 0.05, lifeSpan: 4 },
    { method: 'dgc', ratio: 0.05, momentum: 0, rampIterations: 4 },
    { method: 'scalecom', ratio: 0.05, beta: 0.5, warmupIterations: 1 },
    { method: 'scalecom', ratio: 0.05, beta: 1, selection: 'exact' },
  ])(
    'loses nothing with %j, bucket by bucket, before it is flushed',
    async (exchange) => {
      const ranks = await connectRanks({ ...exchange, bucketBytes: 500 }, [
        planSwitch(1, 6, { method: 'none' }),
      ]);
      expect(await applied(ranks, 8)).toEqual(given(8));
      for (const { engine } of ranks) {
        expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
      }
    },
  );

  it.each([
    ['allreduce', 'ring'],
    ['allgather', 'allgather'],
  ])('says what carried two means in mode %s: %s', async (mode, expected) => {
    const means = { method: 'a2sgd', mode };
    const collective = mode === 'allreduce' ? { collective: expected } : {};
    const ranks = await connectRanks({ ...means, ...collective });
    const carried = await Promise.all(
      ranks.map(async ({ engine }) => (await engine.exchange(0)).collective),
    );
    expect(carried).toEqual(Array(P).fill(expected));
  });

  it('averages to zero without waiting if no rank has anything to send', async () => {
    const ranks = await connectRanks({ method: 'threshold', threshold: 1000 }, [
      planSwitch(1, 6, { method: 'none' }),
    ]);
    for (let t = 0; t < 6; t++)
      expect(await step(ranks, t)).toEqual(new Float32Array(N));
    const expected = Array.from({ length: N }, (_, i) => {
      let sum = 0;
      for (let t = 0; t < 7; t++) {
        for (let rank = 0; rank < P; rank++) sum += element(rank, t, i);
      }
      return sum / P;
    });
    expect([...(await step(ranks, 6))]).toEqual(expected);
  });

  it('loses no more than rounding with powersgd', async () => {
    const ranks = await connectRanks({ method: 'powersgd', bucketBytes: 500 }, [
      planSwitch(1, 6, { method: 'none' }),
    ]);
    const expected = given(8);
    const difference = (await applied(ranks, 8)).map((x, i) => x - expected[i]!);
    expect(Math.max(...difference.map(Math.abs))).toBeLessThan(1e-3);
  });

  it('holds back with topk what the residual remembers, and gives it up with drop', async () => {
    const ranks = await connectRanks({ method: 'topk', ratio: 0.05 }, [
      planSwitch(1, 6, { method: 'none' }, 'drop'),
    ]);
    expect(await applied(ranks, 8)).not.toEqual(given(8));
  });

  it('keeps the residual when only parameters change, and flushes it later', async () => {
    const ranks = await connectRanks(
      { method: 'topk', ratio: 0.02, bucketBytes: 500 },
      [
        planSwitch(1, 3, { method: 'topk', ratio: 0.1 }),
        planSwitch(2, 6, { method: 'none', bucketBytes: 1 }),
      ],
    );
    expect(await applied(ranks, 8)).toEqual(given(8));
  });

  it('passes two fences at one iteration without losing what either kept back', async () => {
    const ranks = await connectRanks({ method: 'topk', ratio: 0.05 }, [
      planSwitch(1, 4, { method: 'none' }),
      planSwitch(2, 4, { method: 'topk', ratio: 0.5 }),
      planSwitch(3, 6, { method: 'none' }),
    ]);
    expect(await applied(ranks, 8)).toEqual(given(8));
  });

  it('moves no rank before every rank knows', async () => {
    const ranks = await connectRanks({ method: 'none' });
    const change = planSwitch(1, 0, { method: 'topk', ratio: 0.5 });
    for (const { engine } of ranks.slice(1)) engine.learn(change);
    for (let t = 0; t < 3; t++) await step(ranks, t);
    expect(ranks.map(({ engine }) => engine.plan.method)).toEqual(
      Array(P).fill('none'),
    );
    ranks[0]!.engine.learn(change);
    await step(ranks, 3);
    const fences = await Promise.all(
      ranks.map(async ({ engine }) => (await engine.fence(4)).length),
    );
    expect(fences).toEqual(Array(P).fill(1));
    expect(ranks.map(({ engine }) => engine.plan.method)).toEqual(
      Array(P).fill('topk'),
    );
  });

  it('stops all ranks at the same iteration when one of them is asked to', async () => {
    const ranks = await connectRanks({ method: 'none' });
    const exchangeAll = (t: number): Promise<boolean[]> =>
      Promise.all(ranks.map(async ({ engine }) => (await engine.exchange(t)).stop));
    expect(await exchangeAll(0)).toEqual([false, false, false, false]);
    ranks[2]!.engine.requestStop();
    expect(await exchangeAll(1)).toEqual([true, true, true, true]);
  });

  it('balances the byte ledger over methods, fences and summaries', async () => {
    const ranks = await connectRanks({ method: 'topk', ratio: 0.1, bucketBytes: 500 }, [
      planSwitch(1, 2, { method: 'a2sgd' }),
      planSwitch(2, 4, { method: 'none', collective: 'recursive-doubling' }),
    ]);
    for (let t = 0; t < 6; t++) {
      const results = await Promise.all(
        ranks.map(async ({ engine }) => {
          await engine.fence(t);
          return engine.exchange(t);
        }),
      );
      for (const { bytes } of results) expect(bytes.imbalance).toBe(0);
    }
    await Promise.all(
      ranks.map(({ engine }) => engine.measures.summarize([1, 2], ['sum', 'max'])),
    );
    for (const { engine } of ranks) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
  });

  it('measures how far replicas have drifted, and averages them', async () => {
    const ranks = await connectRanks({ method: 'a2sgd' });
    const weights = ranks.map(({ arena }, rank) => {
      const { offset } = arena.allocateVector(2);
      const vector = { offset, length: 2 };
      arena.f32(vector).set(rank === 0 ? [3, 4] : [7, 4]);
      return vector;
    });
    // w̄ = (6, 4); the farthest, rank 0, is 3 away from it.
    const values = await Promise.all(
      ranks.map(({ engine }, rank) => engine.measures.divergence(weights[rank]!)),
    );
    expect(values).toEqual(Array(P).fill(3 / Math.sqrt(52)));
    await Promise.all(
      ranks.map(({ engine }, rank) => engine.measures.average(weights[rank]!)),
    );
    for (const [rank, { arena }] of ranks.entries()) {
      expect([...arena.f32(weights[rank]!)]).toEqual([6, 4]);
    }
  });

  it('reports the ranks’ similarity by bucket on request', async () => {
    const ranks = await connectRanks({
      method: 'scalecom',
      ratio: 0.05,
      diagnosticsEvery: 2,
      bucketBytes: 500,
    });
    await step(ranks, 0);
    const results = await Promise.all(ranks.map(({ engine }) => engine.exchange(1)));
    for (const { bytes, statistics } of results) {
      expect(bytes.imbalance).toBe(0);
      expect(statistics.similarities!.map(({ tensors }) => tensors)).toEqual([
        ['w2'],
        ['w1', 'b1'],
      ]);
      for (const { residualDistance, hammingDistance } of statistics.similarities!) {
        expect(residualDistance).toBeGreaterThan(0);
        expect(hammingDistance).toBeLessThanOrEqual(1);
      }
    }
  });

  it('names the tensor of a gradient that is not finite', async () => {
    const ranks = await connectRanks({ method: 'topk' });
    const settled = await Promise.allSettled(
      ranks.map(({ engine, arena, gradient }, rank) => {
        arena.f32(gradient).fill(1);
        if (rank === 2) arena.f32(gradient)[605] = NaN;
        const exchange = engine.exchange(7);
        // As a worker does: whoever fails tells its peers, which are waiting for it.
        exchange.catch((error: Error & { toData(): never }) => {
          engine.abort(error.toData());
        });
        return exchange;
      }),
    );
    const errors = settled.map(
      (result) => (result as PromiseRejectedResult).reason as Error,
    );
    expect(errors[2]).toMatchObject({ code: 'GRADIENT_NOT_FINITE', rank: 2 });
    expect(errors[2]!.message).toBe(
      'the gradient of tensor b1 is NaN at element 5 in iteration 7',
    );
    for (const rank of [0, 1, 3]) {
      expect(errors[rank]).toMatchObject({ code: 'GRADIENT_NOT_FINITE', rank: 2 });
    }
  });

  it('fails once where the run is aborted between two buckets', async () => {
    const ranks = await connectRanks({ method: 'none', bucketBytes: 80 });
    const pending = ranks[0]!.engine.exchange(0);
    // The first bucket is under way, the second waits its turn. What fails meanwhile must
    // reach the caller alone: an unhandled rejection fails this test.
    ranks[0]!.engine.abort({ code: 'ABORTED', kind: 'failure', message: 'enough' });
    await expect(pending).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
