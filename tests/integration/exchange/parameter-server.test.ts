/**
 * Switches to servers and back, of every method whose payloads are summed: nothing changes
 * but who sums.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { collectivesOfMethod } from '../../../src/agent/plan/collectives-of-method.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';
import {
  applied,
  connectRanks,
  given,
  leave,
  planSwitch,
  step,
  type Rank,
} from './engine-ranks.ts';
import { METHOD_CASES, type Exchange } from './method-cases.ts';

afterEach(leave);

const ITERATIONS = 12;
const served = { collective: 'parameter-server', servers: 2 };

function expectBalanced(ranks: readonly Rank[]): void {
  for (const { engine } of ranks) {
    expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
  }
}

/** The averages of each iteration, the same on all ranks. */
async function averages(
  exchange: Exchange,
  switches: readonly PlanSwitch[] = [],
): Promise<readonly Float32Array[]> {
  const ranks = await connectRanks(exchange, switches);
  const made: Float32Array[] = [];
  for (let t = 0; t < ITERATIONS; t++) made.push(await step(ranks, t));
  expectBalanced(ranks);
  await leave();
  return made;
}

/** Summed, by a collective that gives the whole sum. */
const summed = METHOD_CASES.filter(
  ({ exchange, collective }) =>
    collective !== undefined &&
    collectivesOfMethod(String(exchange['method'])).includes('parameter-server'),
);

it('takes what all methods send that is dense or sparse', () => {
  const methods = new Set(summed.map(({ exchange }) => exchange['method']));
  expect(methods).toEqual(
    new Set([
      ...['none', 'bf16', 'fp16', 'topk', 'nonzero', 'blockcd', 'randomk', 'threshold'],
      ...['gaussiank', 'dct', 'dgc', 'scalecom', 'powersgd'],
    ]),
  );
});

describe.each(summed)('$exchange', ({ exchange, collective }) => {
  it('gives the same averages through a switch to it and back', async () => {
    const flat = { ...exchange, collective };
    const expected = await averages(flat);
    const seen = await averages(flat, [
      planSwitch(1, 3, { ...exchange, ...served }),
      planSwitch(2, 5, { ...exchange, ...served, servers: 4 }),
      planSwitch(3, 8, flat),
    ]);
    for (const [t, values] of seen.entries()) {
      const off = values.findIndex((x, i) => Math.abs(x - expected[t]![i]!) > 1e-3);
      expect({ t, off }).toEqual({ t, off: -1 });
    }
  });
});

it('keeps the residual: what is kept back comes at last', async () => {
  const topk = { method: 'topk', ratio: 0.05 };
  const switches = [
    planSwitch(1, 4, { ...topk, ...served }),
    planSwitch(2, 8, topk),
    planSwitch(3, ITERATIONS, { method: 'none', ...served, servers: 3 }),
  ];
  const ranks = await connectRanks(topk, switches);
  expect(await applied(ranks, ITERATIONS + 2)).toEqual(given(ITERATIONS + 2));
  expectBalanced(ranks);
});

it('servers are on several nodes, and the bytes are those of their ranks', async () => {
  const places = [0, 0, 1, 1];
  const ranks = await connectRanks({ method: 'none', ...served }, [], 4, { places });
  const results = await Promise.all(ranks.map(({ engine }) => engine.exchange(0)));
  const payload = results.map(({ bytes }) => bytes.wireSent - bytes.framingSent);
  const control = Math.min(...payload);
  expect(results[0]!.collective).toBe('parameter-server');
  // One vector of 820 from each rank; a server sends half of it three times, and half.
  expect(payload.map((bytes) => bytes - control)).toEqual([4 * 820, 0, 4 * 820, 0]);
});

it('carries the other layers if one is gathered', async () => {
  const layers = [{ match: 'w2', method: 'qsgd', minElements: 0 }];
  const exchange = { method: 'topk', ratio: 0.1, layers, ...served };
  const ranks = await connectRanks(exchange);
  for (let t = 0; t < 3; t++) await step(ranks, t);
  const [result] = await Promise.all(ranks.map(({ engine }) => engine.exchange(3)));
  // Of the largest bucket; the layer's is another, for it cannot be summed.
  expect(result!.collective).toBe('parameter-server');
  expectBalanced(ranks);
});
