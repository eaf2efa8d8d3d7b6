/**
 * What a switch does to the state that methods and collectives keep beside the residual. Two
 * ranks, for a sum of two is the same in any order: every collective gives the same bits.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import type {
  ExchangeResult,
  Fence,
} from '../../../src/agent/exchange/exchange-calls.ts';
import { planBuckets } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import type { PlanSwitch } from '../../../src/shared/plan/exchange-plan.ts';
import { connectRanks, element, leave, N, planSwitch } from './engine-ranks.ts';
import { METHOD_CASES as CASES, type Exchange } from './method-cases.ts';

afterEach(leave);

interface Trace {
  /** What each rank had after each iteration, as bits. */
  readonly averages: readonly (readonly Uint32Array[])[];
  readonly results: readonly (readonly ExchangeResult[])[];
  readonly fences: readonly Fence[];
}

/** Gradients grow and shrink, so that a threshold of before is not one of now. */
const gradientAt = (rank: number, iteration: number, i: number): number =>
  element(rank, iteration, i) * 2 ** (iteration % 3);

async function trace(
  exchange: Exchange,
  switches: readonly PlanSwitch[] = [],
  iterations = 12,
  world = 2,
): Promise<Trace> {
  const ranks = await connectRanks(exchange, switches, world);
  const averages: Uint32Array[][] = [];
  const results: ExchangeResult[][] = [];
  const fences: Fence[] = [];
  for (let t = 0; t < iterations; t++) {
    const passed = await Promise.all(ranks.map(({ engine }) => engine.fence(t)));
    for (const other of passed) expect(other).toEqual(passed[0]);
    fences.push(...passed[0]!);
    results.push(
      await Promise.all(
        ranks.map(({ engine, arena, gradient }, rank) => {
          const values = arena.f32(gradient);
          for (let i = 0; i < N; i++) values[i] = gradientAt(rank, t, i);
          return engine.exchange(t);
        }),
      ),
    );
    averages.push(
      ranks.map(({ arena, gradient }) =>
        arena.u32(gradient.offset, gradient.length).slice(),
      ),
    );
  }
  for (const { engine } of ranks) engine[Symbol.dispose]();
  return { averages, results, fences };
}

const outcomes = ({ fences }: Trace): unknown[] =>
  fences.map(({ state }) => [state.outcome, ...state.dropped]);

const refreshesAt = ({ results }: Trace, iteration: number): number =>
  results[iteration]![0]!.statistics.thresholdRefreshes!;

const payloads = ({ results }: Trace): number[][] =>
  results.map((ranks) => ranks.map(({ bytes }) => bytes.payload));

/** Methods with more state than their residual. */
const STATEFUL = new Set(['dct', 'dgc', 'powersgd']);

describe('a switch within a method', () => {
  it('is tried with every method that there is', () => {
    const tried = new Set(CASES.map(({ exchange }) => exchange.method));
    expect([...tried].sort()).toEqual([...methods.keys()].sort());
  });

  it.each(CASES)('changes nothing with %j', async ({ exchange, collective }) => {
    const written = { ...exchange, bucketBytes: 500 };
    const left = await trace(written);
    const changes = [
      written,
      ...(collective === undefined ? [] : [{ ...written, collective }]),
    ];
    const { method, collective: named } = exchange;
    const keeps = STATEFUL.has(String(method)) || named === 'ok-topk';
    for (const change of changes) {
      const switched = await trace(written, [planSwitch(1, 5, change)]);
      expect(switched.averages).toEqual(left.averages);
      expect(payloads(switched)).toEqual(payloads(left));
      expect(outcomes(switched)).toEqual([[keeps ? 'kept' : 'none']]);
    }
  });

  it.each([0, 1])('also before iteration %i', async (iteration) => {
    const exchange = { method: 'dgc', ratio: 0.05, bucketBytes: 500 };
    const left = await trace(exchange);
    const switched = await trace(exchange, [planSwitch(1, iteration, exchange)]);
    expect(switched.averages).toEqual(left.averages);
  });

  it('keeps a collective’s state while the collective stays', async () => {
    const exchange = { method: 'dct', ratio: 0.05, collective: 'ok-topk' };
    const within = { ...exchange, lifeSpan: 50 };
    const away = { ...exchange, collective: 'ssar-recursive-doubling' };
    expect(outcomes(await trace(exchange, [planSwitch(1, 5, within)]))).toEqual([
      ['kept'],
    ]);
    const there = [planSwitch(1, 5, away), planSwitch(2, 7, exchange)];
    expect(outcomes(await trace(exchange, there))).toEqual([
      ['partly', 'ok-topk'],
      ['kept'],
    ]);
  });
});

describe('other parameters of a method', () => {
  it('leave dgc its velocities, at another ratio', async () => {
    const first = { method: 'dgc', ratio: 0.1, momentum: 0.5 };
    const second = { method: 'dgc', ratio: 0.02, momentum: 0.25 };
    const made = await trace(first, [planSwitch(1, 4, second)], 8, 1);
    const whole = Array.from({ length: N }, (_, i) => i);
    const oracle = new MomentumCorrection();
    for (let t = 0; t < 8; t++) {
      const [ratio, momentum] = t < 4 ? [0.1, 0.5] : [0.02, 0.25];
      expectValues(made, t, oracle.step(t, [whole], ratio, momentum));
    }
    expect(outcomes(made)).toEqual([['kept']]);
  });

  it('leave dct its thresholds and their age, unless the ratio is another', async () => {
    const exchange = { method: 'dct', ratio: 0.05, lifeSpan: 100, band: 1000 };
    const shorter = { ...exchange, lifeSpan: 6 };
    const made = await trace(exchange, [planSwitch(1, 4, shorter)]);
    expect(outcomes(made)).toEqual([['kept']]);
    const refreshed = Array.from({ length: 12 }, (_, t) => refreshesAt(made, t) > 0);
    // Every sixth iteration since the first, not since the switch.
    expect(refreshed.flatMap((due, t) => (due ? [t] : []))).toEqual([0, 6]);
    const more = { ...exchange, ratio: 0.06 };
    const anew = await trace(exchange, [planSwitch(1, 4, more)]);
    expect(outcomes(anew)).toEqual([['dropped', 'dct']]);
    expect(refreshesAt(anew, 4)).toBeGreaterThan(0);
  });

  it('leave powersgd its factors, unless the rank is another', async () => {
    const exchange = { method: 'powersgd', rank: 2 };
    const cold = { ...exchange, warmStart: false };
    const more = { ...exchange, rank: 3 };
    const made = [cold, more].map((change) =>
      trace(exchange, [planSwitch(1, 4, change)]),
    );
    expect((await Promise.all(made)).map(outcomes)).toEqual([
      [['kept']],
      [['dropped', 'powersgd']],
    ]);
  });
});

describe('other buckets', () => {
  it('keep the state of those that have the same tensors, and drop the rest', async () => {
    // w2 has a bucket of its own under both; b1 and w1 share one under the first.
    const first = { method: 'dgc', ratio: 0.1, momentum: 0.5, bucketBytes: 500 };
    const second = { ...first, bucketBytes: 1 };
    const made = await trace(first, [planSwitch(1, 4, second)], 8, 1);
    const oracle = new MomentumCorrection();
    for (let t = 0; t < 8; t++) {
      const buckets = planBuckets(TENSORS, resolvePlan(t < 4 ? first : second)).map(
        ({ runs }) =>
          runs.flatMap(({ flat, length }) =>
            Array.from({ length }, (_, i) => flat + i),
          ),
      );
      // w1 and b1: elements 0 to 619.
      if (t === 4) oracle.velocity.fill(0, 0, 620);
      expectValues(made, t, oracle.step(t, buckets, 0.1, 0.5));
    }
    expect(outcomes(made)).toEqual([['partly', 'dgc']]);
  });
});

describe('another method', () => {
  const exchange = { method: 'dct', ratio: 0.05, lifeSpan: 100, band: 1000 };

  it.each([6, 4])('starts from 0, also after a visit to it until %i', async (back) => {
    const switches = [
      planSwitch(1, 4, { method: 'topk', ratio: 0.05 }),
      planSwitch(2, back, exchange),
    ];
    const made = await trace(exchange, switches);
    expect(outcomes(made)).toEqual([['dropped', 'dct'], ['none']]);
    expect(refreshesAt(made, back)).toBeGreaterThan(0);
    expect(refreshesAt(made, back + 1)).toBe(0);
  });

  it('does not count two switches at once that stay within the method', async () => {
    const switches = [
      planSwitch(1, 4, { ...exchange, lifeSpan: 200 }),
      planSwitch(2, 4, { ...exchange, lifeSpan: 300 }),
    ];
    const made = await trace(exchange, switches);
    expect(outcomes(made)).toEqual([['kept'], ['kept']]);
    expect(refreshesAt(made, 4)).toBe(0);
  });
});

describe('a warm-up or a ramp given in a switch', () => {
  /** Entries that each rank sent in each iteration; 0: all of the gradient. */
  async function entriesSent(
    changes: Readonly<Record<number, Exchange>>,
  ): Promise<number[]> {
    const launched = { method: 'topk', ratio: 0.1 };
    let plan = resolvePlan(launched);
    let epoch = 0;
    const ranks = await connectRanks(launched);
    const entries: number[] = [];
    for (let t = 0; t < 12; t++) {
      const change = changes[t];
      if (change !== undefined) {
        plan = resolvePlan(change, plan, { epoch: ++epoch });
        // Not agreed on before this iteration's exchange: the fence is the next.
        for (const { engine } of ranks) {
          engine.learn({ epoch, notBefore: 0, plan, residual: 'flush' });
        }
      }
      const results = await Promise.all(
        ranks.map(async ({ engine, arena, gradient }, rank) => {
          await engine.fence(t);
          const values = arena.f32(gradient);
          for (let i = 0; i < N; i++) values[i] = gradientAt(rank, t, i);
          return await engine.exchange(t);
        }),
      );
      const sent = results.map(({ statistics }) => statistics.nnzLocal ?? 0);
      expect(new Set(sent).size).toBe(1);
      entries.push(sent[0]!);
    }
    return entries;
  }

  it('counts from its fence', async () => {
    const entries = await entriesSent({
      4: { warmupIterations: 2, rampIterations: 2, rampFrom: 0.4 },
    });
    expect(entries.slice(4)).toEqual([82, 0, 0, 328, 164, 82, 82, 82]);
  });

  it('goes on when something else is switched', async () => {
    const entries = await entriesSent({
      4: { rampIterations: 4, rampFrom: 0.4 },
      6: { collective: 'sparse-ring' },
    });
    const expected = [0, 1, 2, 3, 4].map((step) =>
      Math.round(N * 0.4 * 0.25 ** (step / 4)),
    );
    expect(entries.slice(5, 10)).toEqual(expected);
  });

  it('begins again when it is given again', async () => {
    const ramp = { rampIterations: 2, rampFrom: 0.4 };
    const entries = await entriesSent({ 2: ramp, 7: { ...ramp, ratio: 0.025 } });
    expect(entries.slice(3, 6)).toEqual([328, 164, 82]);
    expect(entries.slice(8, 11)).toEqual([328, 82, 21]);
  });
});

const TENSORS = [
  { name: 'w1', shape: [30, 20], start: 0, length: 600 },
  { name: 'b1', shape: [20], start: 600, length: 20 },
  { name: 'w2', shape: [20, 10], start: 620, length: 200 },
];

/**
 * Deep Gradient Compression of one rank in f64, which numbers of few bits make exact:
 * u ← μ·u + ∇; v ← v + u; the k largest of v are sent, and cleared from both.
 */
class MomentumCorrection {
  readonly velocity = new Float64Array(N);
  readonly #held = new Float64Array(N);

  step(
    iteration: number,
    buckets: readonly (readonly number[])[],
    ratio: number,
    momentum: number,
  ): Float64Array {
    const sent = new Float64Array(N);
    for (let i = 0; i < N; i++) {
      this.velocity[i] = momentum * this.velocity[i]! + gradientAt(0, iteration, i);
      this.#held[i]! += this.velocity[i]!;
    }
    for (const bucket of buckets) {
      const k = Math.max(1, Math.round(ratio * bucket.length));
      const largest = bucket.toSorted(
        (a, b) => Math.abs(this.#held[b]!) - Math.abs(this.#held[a]!) || a - b,
      );
      for (const i of largest.slice(0, k)) {
        sent[i] = this.#held[i]!;
        this.#held[i] = 0;
        this.velocity[i] = 0;
      }
    }
    return sent;
  }
}

function expectValues({ averages }: Trace, t: number, expected: Float64Array): void {
  const bits = averages[t]![0]!;
  const values = new Float32Array(bits.buffer, bits.byteOffset, bits.length);
  expect([...values], `iteration ${t}`).toEqual([...expected]);
}
