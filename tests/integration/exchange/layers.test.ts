/** Plans that give some tensors another method, and switches between them. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  applied,
  connectRanks,
  given,
  leave,
  planSwitch,
  step,
} from './engine-ranks.ts';

afterEach(leave);

const denseBias = { layers: [{ match: 'b*', method: 'none' }] };

describe('layers of an exchange plan', () => {
  it.each([
    { method: 'topk', ratio: 0.05, ...denseBias },
    { method: 'topk', ratio: 0.05, minElements: 100 },
    { method: 'none', layers: [{ match: 'w*', method: 'topk', ratio: 0.02 }] },
    { method: 'randomk', ratio: 0.1, layers: [{ match: 'b1', method: 'dct' }] },
    {
      method: 'scalecom',
      beta: 0.5,
      ratio: 0.05,
      layers: [
        { match: 'w1', method: 'topk', k: 3, quantize: { bits: 2, bucket: 8 } },
        { match: 'b1', ratio: 0.5, warmupIterations: 2 },
      ],
    },
  ])('lose nothing with %j, before it is flushed', async (exchange) => {
    const ranks = await connectRanks(exchange, [planSwitch(1, 6, { method: 'none' })]);
    expect(await applied(ranks, 8)).toEqual(given(8));
    for (const { engine } of ranks) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
  });

  it.each([2, 3])('come and go in switches on %i ranks', async (world) => {
    const switches = [
      planSwitch(1, 2, { method: 'topk', ratio: 0.05, ...denseBias }),
      planSwitch(2, 4, { method: 'topk', ratio: 0.05, bucketBytes: 500 }),
      planSwitch(3, 6, {
        method: 'topk',
        ratio: 0.1,
        layers: [
          { match: 'w2', method: 'qsgd', levels: 8, minElements: 0 },
          { match: 'b1', method: 'scalecom', beta: 1 },
        ],
      }),
      planSwitch(4, 8, { method: 'none' }),
    ];
    const ranks = await connectRanks({ method: 'topk', ratio: 0.05 }, switches, world);
    const total = await applied(ranks, 10);
    const expected = given(10, world);
    // Thirds are rounded; nothing else is.
    const most = Math.max(...total.map((x, i) => Math.abs(x - expected[i]!)));
    expect(most).toBeLessThanOrEqual(world === 2 ? 0 : 1e-4);
  });

  it('flush at the fence what a tensor that goes dense has kept back, and keep the rest', async () => {
    const ranks = await connectRanks({ method: 'topk', k: 1 }, [
      planSwitch(1, 3, { method: 'topk', k: 1, ...denseBias }),
    ]);
    for (let t = 0; t < 3; t++) await step(ranks, t);
    const [fence] = await ranks[0]!.engine.fence(3);
    expect(fence!.transition).toMatchObject({
      residual: 'flushed',
      leaving: [{ start: 600, length: 20 }],
    });
    const average = await step(ranks, 3);
    // All of b1's past arrives; of the weights one entry a rank.
    const past = given(4).map((sum) => sum / 4);
    const sent = await sentBefore(3);
    const missing = past.map((x, i) => x - sent[i]!);
    expect([...average.subarray(600, 620)]).toEqual(missing.slice(600, 620));
    const weights = [...average.subarray(0, 600), ...average.subarray(620)];
    expect(weights.filter((x) => x !== 0).length).toBeLessThanOrEqual(4);
  });

  it('count what travels whole among the entries that were sent', async () => {
    const [alone] = await connectRanks({ method: 'topk', k: 3, ...denseBias }, [], 1);
    const { statistics, bytes } = await alone!.engine.exchange(0);
    expect(statistics).toMatchObject({ nnzLocal: 23, nnzReduced: 23 });
    expect(bytes.payload).toBe(3 * 8 + 20 * 4);
  });
});

/** What topk of one entry has applied in so many iterations, on ranks of their own. */
async function sentBefore(iterations: number): Promise<number[]> {
  const ranks = await connectRanks({ method: 'topk', k: 1 });
  return (await applied(ranks, iterations)).map((x) => x / 4);
}
