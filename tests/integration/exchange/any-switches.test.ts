/**
 * Error feedback over any plans that follow one another, drawn by lot: methods, parameters,
 * layers, small tensors, buckets. What went in comes out once the last plan has flushed what
 * is left, up to rounding.
 */
import { afterEach, expect, it } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { applied, connectRanks, given, leave, planSwitch } from './engine-ranks.ts';

afterEach(leave);

/** Whose averages with their residuals are exact but for rounding. */
const METHODS: readonly Record<string, unknown>[] = [
  { method: 'none' },
  { method: 'topk', ratio: 0.05 },
  { method: 'topk', k: 2, bucket: 64, quantize: { bits: 3, bucket: 16 } },
  { method: 'topk', ratio: 0.02, warmupIterations: 7 },
  { method: 'randomk', ratio: 0.1 },
  { method: 'threshold', threshold: 9 },
  { method: 'gaussiank', ratio: 0.05, rampIterations: 9 },
  { method: 'dct', ratio: 0.05 },
  { method: 'scalecom', ratio: 0.05, beta: 0.25, diagnosticsEvery: 2 },
  { method: 'powersgd', rank: 1 },
  { method: 'onebit', minElements: 100 },
  { method: 'onebit', minElements: 100, granularity: 'column' },
  { method: 'qsgd', levels: 8, minElements: 0, coding: 'elias' },
];
const LENGTHS = [0, 50, 300];
const BUCKETS = [1, 500, 2 ** 22];
const PLANS = 6;

it.each([1, 2, 3, 4, 5, 6, 7, 8])('loses nothing, lot %i', async (seed) => {
  const random = new CounterRandom({ seed });
  let drawn = 0;
  const oneOf = <T>(all: readonly T[]): T =>
    all[Math.floor(random.uniform(drawn++) * all.length)]!;
  const plan = (): Record<string, unknown> => {
    const base = oneOf(METHODS);
    const least = base.minElements ?? oneOf(LENGTHS);
    const takes = !['none', 'powersgd', 'qsgd'].includes(String(base.method));
    const layers = ['b1', 'w*', '*2']
      .filter(() => random.uniform(drawn++) < 0.4)
      .map((match) => ({ match, ...oneOf(METHODS) }));
    return {
      ...base,
      ...(takes ? { minElements: least } : {}),
      layers,
      bucketBytes: oneOf(BUCKETS),
    };
  };
  const plans = Array.from({ length: PLANS }, plan);
  const switches = [...plans.slice(1), { method: 'none' }].map((change, index) =>
    planSwitch(index + 1, 2 * (index + 1), change),
  );
  const ranks = await connectRanks(plans[0]!, switches, 2);
  const iterations = 2 * PLANS + 1;
  const total = await applied(ranks, iterations);
  const expected = given(iterations, 2);
  const most = Math.max(...total.map((x, i) => Math.abs(x - expected[i]!)));
  expect(most, JSON.stringify(plans)).toBeLessThan(1e-3);
  for (const { engine } of ranks) {
    expect(engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
  }
});
