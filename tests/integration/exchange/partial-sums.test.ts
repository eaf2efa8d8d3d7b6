/** Plans whose collective leaves entries out: later they arrive, and nothing is lost. */
import { afterEach, describe, expect, it } from 'vitest';
import { applied, connectRanks, given, leave, planSwitch } from './engine-ranks.ts';

afterEach(leave);

describe('ok-topk', () => {
  it.each([
    { method: 'topk', ratio: 0.05 },
    { method: 'topk', ratio: 0.05, bucketBytes: 1 },
    { method: 'topk', ratio: 0.05, warmupIterations: 3 },
    { method: 'dct', ratio: 0.02, lifeSpan: 5 },
    { method: 'gaussiank', ratio: 0.05 },
    { method: 'threshold', threshold: 12 },
    { method: 'topk', ratio: 0.05, layers: [{ match: 'b1', method: 'none' }] },
  ])('with %j gives all of the gradient in the end', async (exchange) => {
    const iterations = 12;
    // The switch flushes what the ranks have kept back.
    const flush = planSwitch(1, iterations, { method: 'none' });
    const ranks = await connectRanks({ ...exchange, collective: 'ok-topk' }, [flush]);
    expect(await applied(ranks, iterations + 1)).toEqual(given(iterations + 1));
    for (const { engine } of ranks) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
  });

  it('gives less than all before', async () => {
    const ranks = await connectRanks({ method: 'topk', collective: 'ok-topk' });
    expect(await applied(ranks, 3)).not.toEqual(given(3));
  });

  it('begins, goes on with another ratio, and ends with a switch', async () => {
    const switches = [
      planSwitch(1, 2, { method: 'topk', ratio: 0.02, collective: 'ok-topk' }),
      planSwitch(2, 5, { method: 'topk', ratio: 0.2, collective: 'ok-topk' }),
      planSwitch(3, 8, { method: 'topk', collective: 'ssar-split-allgather' }),
      planSwitch(4, 10, { method: 'none' }),
    ];
    const ranks = await connectRanks({ method: 'none' }, switches, 4);
    expect(await applied(ranks, 11)).toEqual(given(11));
  });
});
