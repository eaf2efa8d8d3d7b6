/** Engines that know on which nodes their ranks are: plans that name it, and `auto`. */
import { afterEach, expect, it } from 'vitest';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import { applied, connectRanks, given, leave, planSwitch } from './engine-ranks.ts';

afterEach(leave);

const places = [0, 0, 1, 1];
/** On which bytes between nodes are all that counts. */
const network = { ...LOOPBACK, between: { alpha: 60e-6, beta: 1e-6 } };

it.each([
  [{ method: 'none' }, 'hierarchical'],
  [{ method: 'topk', ratio: 0.05 }, 'ssar-hierarchical'],
])('%j: by name, and by auto, all of the gradient in the end', async (exchange, id) => {
  for (const collective of [id, 'auto']) {
    const flush = planSwitch(1, 5, { method: 'none', collective: 'ring' });
    const plan = { ...exchange, collective };
    const ranks = await connectRanks(plan, [flush], 4, { network, places });
    const taken = await Promise.all(
      ranks.map(async ({ engine }) => (await engine.exchange(0)).collective),
    );
    expect(taken).toEqual([id, id, id, id]);
    expect(await applied(ranks, 6)).toEqual(given(6));
    for (const { engine } of ranks) {
      expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    }
    await leave();
  }
});

it('auto takes a flat one where all are on one node', async () => {
  const ranks = await connectRanks({ method: 'none' }, [], 4, { network });
  const taken = await Promise.all(
    ranks.map(async ({ engine }) => (await engine.exchange(0)).collective),
  );
  expect(new Set(taken)).toEqual(new Set(['recursive-doubling']));
});
