/**
 * A residual in units of updates: SparCML's Algorithm 1, whatever the learning rate does. Rates
 * that are powers of two change no bit of anything, so there the weights are compared with ===.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { loadRank, saveRank } from '../../../src/agent/checkpoint/rank-checkpoint.ts';
import type { EngineState } from '../../../src/agent/exchange/engine-state.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';
import { connectRanks, leave, planSwitch, type Rank } from './engine-ranks.ts';
import type { Exchange } from './method-cases.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-test-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});
afterEach(leave);

/** Tensors of the ranks, a bucket each. */
const LENGTHS = [600, 20, 200];
const N = 820;
const K = 7;
const { fround } = Math;

const TOPK = { method: 'topk', k: K, bucketBytes: 1 };
const UPDATE = { residualUnits: 'update' };

const POWERS = [1, 1, 4, 4, 0.25, 0.25, 2 ** -9, 2 ** -9, 1, 8, 8, 0.5, 2, 2, 1, 1];
/** A warm-up, a plateau, steps and a decay. */
const RATES = [
  ...[0.02, 0.04, 0.06, 0.08, 0.1, 0.1, 0.1, 0.01, 0.01],
  ...[0.001, 0.3, 0.29, 0.27, 0.2, 0.1, 0.03],
];

const gradientAt = (rank: number, iteration: number, i: number): number => {
  const x = Math.sin(1 + i * 12.9898 + rank * 78.233 + iteration * 37.719) * 43758.5453;
  return fround((x - Math.floor(x) - 0.5) * (1 + (i % 5)));
};

/** w ← w − η·(average over ranks), as the optimiser does; weights after each iteration. */
async function train(
  ranks: readonly Rank[],
  rates: readonly number[],
  {
    from = 0,
    to = rates.length,
    weights = new Float32Array(N),
    inputs = 'gradient',
  } = {},
): Promise<Float32Array[]> {
  const after: Float32Array[] = [];
  for (let t = from; t < to; t++) {
    const rate = rates[t]!;
    await Promise.all(
      ranks.map(async ({ engine, arena, gradient }, rank) => {
        await engine.fence(t);
        const values = arena.f32(gradient);
        const factor = inputs === 'update' ? rate : 1;
        for (let i = 0; i < N; i++) values[i] = factor * gradientAt(rank, t, i);
        await engine.exchange(t, { lr: inputs === 'update' ? 1 : rate });
      }),
    );
    const { arena, gradient } = ranks[0]!;
    const applied = inputs === 'update' ? 1 : rate;
    arena.f32(gradient).forEach((value, i) => {
      weights[i] = weights[i]! - fround(applied * value);
    });
    after.push(weights.slice());
  }
  return after;
}

type Regime = 'update' | 'gradient' | 'dense';

/**
 * Algorithm 1 for each rank: acc ← ε + η·∇, TopK(acc) is sent and ε ← acc − TopK(acc). In
 * units of gradients ε is η·m with the η of the iteration that sends it. Dense: all of ε and of
 * the gradient is sent.
 */
function algorithm1(
  world: number,
  rates: readonly number[],
  regimeAt: (iteration: number) => Regime,
  round: (x: number) => number,
): number[][] {
  const kept = Array.from({ length: world }, () => new Array<number>(N).fill(0));
  const weights = new Array<number>(N).fill(0);
  const after: number[][] = [];
  let before: Regime = 'dense';
  for (const [t, rate] of rates.entries()) {
    const regime = regimeAt(t);
    const total = new Array<number>(N).fill(0);
    for (const [rank, own] of kept.entries()) {
      const acc = own.map((value, i) => {
        const ε = before === 'gradient' ? round(rate * value) : value;
        return round(ε + round(rate * gradientAt(rank, t, i)));
      });
      const sent = regime === 'dense' ? acc.map(() => true) : largest(acc);
      acc.forEach((value, i) => {
        if (sent[i]!) total[i] = round(total[i]! + value);
        const rest = sent[i]! ? 0 : value;
        own[i] = regime === 'gradient' ? round(rest / rate) : rest;
      });
    }
    total.forEach((sum, i) => {
      weights[i] = round(weights[i]! - round(sum / world));
    });
    after.push([...weights]);
    before = regime;
  }
  return after;
}

/** Of each tensor the k entries of largest magnitude, ties by lower index. */
function largest(acc: readonly number[]): boolean[] {
  let start = 0;
  return LENGTHS.flatMap((length) => {
    const own = acc.slice(start, start + length);
    start += length;
    const order = own
      .map((_, i) => i)
      .sort((a, b) => Math.abs(own[b]!) - Math.abs(own[a]!) || a - b);
    const chosen = new Set(order.slice(0, K));
    return own.map((_, i) => chosen.has(i));
  });
}

const listed = (all: readonly Float32Array[]): number[][] => all.map((one) => [...one]);

describe.each([1, 2])('%i ranks', (world) => {
  it('are Algorithm 1 to the bit, while the rate changes by powers of two', async () => {
    const weights = await train(
      await connectRanks({ ...TOPK, ...UPDATE }, [], world),
      POWERS,
    );
    expect(listed(weights)).toEqual(algorithm1(world, POWERS, () => 'update', fround));
  });

  it('are something else in units of gradients, by the same book', async () => {
    const weights = await train(await connectRanks(TOPK, [], world), POWERS);
    const gradients = algorithm1(world, POWERS, () => 'gradient', fround);
    expect(listed(weights)).toEqual(gradients);
    expect(gradients).not.toEqual(algorithm1(world, POWERS, () => 'update', fround));
  });
});

it('is Algorithm 1 at any rates, to rounding', async () => {
  const weights = await train(await connectRanks({ ...TOPK, ...UPDATE }, [], 2), RATES);
  expectNear(
    weights,
    algorithm1(2, RATES, () => 'update', Number),
  );
});

it('has the bits of units of gradients while the rate stays', async () => {
  const rates = RATES.map(() => 0.1);
  const updates = await train(await connectRanks({ ...TOPK, ...UPDATE }), rates);
  await leave();
  expect(updates).toEqual(await train(await connectRanks(TOPK), rates));
});

describe('a switch in the middle', () => {
  const change = (epoch: number, at: number, to: Exchange): PlanSwitch =>
    planSwitch(epoch, at, to);
  // Where rates change, and where they do not.
  const switches = [
    change(1, 4, TOPK),
    change(2, 7, { ...TOPK, ...UPDATE }),
    change(3, 9, { method: 'none' }),
    change(4, 10, { ...TOPK, ...UPDATE, bucketBytes: 4 }),
    change(5, 13, TOPK),
  ];
  const regimeAt = (t: number): Regime => {
    if (t < 4) return 'update';
    if (t < 7) return 'gradient';
    if (t < 9) return 'update';
    if (t < 10) return 'dense';
    return t < 13 ? 'update' : 'gradient';
  };

  it.each([
    ['powers of two', POWERS],
    ['any rates', RATES],
  ])('converts what is kept, or flushes it: %s', async (_, rates) => {
    const ranks = await connectRanks({ ...TOPK, ...UPDATE }, switches, 2);
    expectNear(await train(ranks, rates), algorithm1(2, rates, regimeAt, Number));
  });
});

/** Sizes say nothing to these: a gradient twice as large is compressed alike. */
describe.each<Exchange>([
  { method: 'topk', k: 20, quantize: { bits: 4, bucket: 16 } },
  { method: 'topk', k: 20, warmupIterations: 3 },
  { method: 'randomk', ratio: 0.1 },
  { method: 'gaussiank', ratio: 0.05 },
  { method: 'scalecom', ratio: 0.05, beta: 0.25 },
  { method: 'powersgd', rank: 2 },
  { method: 'onebit', minElements: 0 },
  { method: 'onebit', minElements: 0, granularity: 'column' },
  { method: 'topk', k: 9, collective: 'ssar-split-allgather' },
  { method: 'topk', k: 9, layers: [{ match: 'b1', method: 'none' }] },
])('$method, $collective', (exchange) => {
  it('sends what it would send of η·∇ at a rate of 1', async () => {
    const updates = await train(await connectRanks({ ...exchange, ...UPDATE }), POWERS);
    await leave();
    const scaled = await train(await connectRanks(exchange), POWERS, {
      inputs: 'update',
    });
    expect(updates).toEqual(scaled);
  });
});

it.each([4, 5, 8])('goes on from a checkpoint before iteration %i', async (cut) => {
  const exchange = { ...TOPK, ...UPDATE };
  const whole = await train(await connectRanks(exchange, [], 2), RATES);
  await leave();
  const ranks = await connectRanks(exchange, [], 2);
  const first = await train(ranks, RATES, { to: cut });
  const states = await Promise.all(
    ranks.map(async ({ engine }, rank) => throughFile(rank, await engine.save())),
  );
  await leave();
  const resumed = await connectRanks(exchange, [], 2, { resume: states });
  const weights = first.at(-1)!.slice();
  const rest = await train(resumed, RATES, { from: cut, weights });
  expect([...first, ...rest]).toEqual(whole);
});

it('leaves what is kept as it is where a rate has rounded to 0', async () => {
  const rates = [1, 0.5, 0, 0, 0.5, 0.25];
  const weights = await train(await connectRanks({ ...TOPK, ...UPDATE }, [], 2), rates);
  expect(weights[2]).toEqual(weights[1]);
  expect(weights[3]).toEqual(weights[1]);
  expect(weights.at(-1)!.every(Number.isFinite)).toBe(true);
  expect(weights.at(-1)).not.toEqual(weights[3]);
});

function expectNear(
  actual: readonly Float32Array[],
  expected: readonly (readonly number[])[],
): void {
  const scale = Math.max(...expected.at(-1)!.map(Math.abs));
  for (const [t, weights] of actual.entries()) {
    const worst = weights.reduce(
      (most, value, i) => Math.max(most, Math.abs(value - expected[t]![i]!)),
      0,
    );
    expect(worst / scale, `iteration ${t}`).toBeLessThan(1e-5);
  }
}

/** As a checkpoint's file gives it back. */
async function throughFile(rank: number, engine: EngineState): Promise<EngineState> {
  const file = path.join(directory, `rank-${rank}.gwc`);
  const owner = { run: 'run', rank, world: 2 };
  const none = new Float32Array(0);
  await saveRank(file, owner, {
    iteration: 1,
    weights: none,
    state: none,
    metric: undefined,
    steps: [],
    passages: [],
    engine,
  });
  return (await loadRank(file, owner)).engine;
}
