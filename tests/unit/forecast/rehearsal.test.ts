import { describe, expect, test } from 'vitest';
import { rehearse } from '../../../src/agent/forecast/rehearsal.ts';
import {
  forecastPlan,
  forecastStep,
  type ForecastSetting,
  type RehearsedPlan,
} from '../../../src/agent/forecast/step-forecast.ts';
import type { StepForecast } from '../../../src/shared/forecast/candidate.ts';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import type { MethodDefinition } from '../../../src/agent/methods/method.ts';
import { none } from '../../../src/agent/methods/none.ts';
import { methods } from '../../../src/agent/methods/registry.ts';
import { planBuckets } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { expectedUnion } from '../../../src/shared/cost-model/fill-in.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';

const TENSORS = [
  { name: 'w1', shape: [200, 100], start: 0, length: 20_000 },
  { name: 'b1', shape: [100], start: 20_000, length: 100 },
];
const N = 20_100;
const setting = { ranks: 4, network: LOOPBACK, compute: 0.005 };

/** Of one tensor, unless told. */
function rehearsed(
  exchange: Record<string, unknown>,
  length?: number,
  times = { compress: 1e-3, decompress: 2e-3, gathered: 0 },
): RehearsedPlan {
  const plan = resolvePlan(exchange);
  const tensors =
    length === undefined ? TENSORS : [{ name: 'w', shape: [length], start: 0, length }];
  return { plan, buckets: planBuckets(tensors, plan), ...times };
}

function bestForecast(subject: RehearsedPlan, given: ForecastSetting): StepForecast {
  return forecastPlan(subject, given).reduce((best, other) =>
    other.step < best.step ? other : best,
  );
}

describe('a rehearsal', () => {
  test.each([...methods.keys()])('of %s takes time', async (method) => {
    const { compress, decompress } = await rehearse(rehearsed({ method }).buckets);
    expect(compress).toBeGreaterThan(0);
    expect(decompress).toBeGreaterThan(0);
  });

  test.each([
    ['qsgd', { minElements: 0 }, true],
    ['none', {}, false],
    ['topk', {}, false],
    ['a2sgd', { mode: 'allgather' }, false],
    ['powersgd', {}, false],
  ])('of %s %j says whether all payloads are decoded', async (method, rest, all) => {
    const { buckets } = rehearsed({ method, ...rest }, N);
    const { decompress, gathered } = await rehearse(buckets);
    expect(gathered).toBe(all ? decompress : 0);
  });

  test('tells gathered payloads from those that are summed', async () => {
    const tensors = [0, 1].map((i) => ({
      ...TENSORS[0]!,
      name: `w${i}`,
      start: 20_000 * i,
    }));
    const bucketsOf = (method: string) =>
      planBuckets(tensors, resolvePlan({ method, minElements: 0, bucketBytes: 1 }));
    const buckets = [bucketsOf('qsgd')[0]!, bucketsOf('topk')[1]!];
    const { decompress, gathered } = await rehearse(buckets);
    expect(gathered).toBeGreaterThan(0);
    expect(gathered).toBeLessThan(decompress);
  });

  test('is of iterations after the longest warm-up and the longest ramp', async () => {
    const { buckets } = rehearsed({ method: 'none' });
    const seen: number[] = [];
    const method: MethodDefinition = {
      ...none,
      create: (context) => {
        const compressor = none.create({ ...context, parameters: {} });
        const encode = compressor.encode.bind(compressor);
        compressor.encode = (gradient, iteration) => {
          seen.push(iteration);
          return encode(gradient, iteration);
        };
        return compressor;
      },
    };
    await rehearse(
      buckets.map((bucket) => ({ ...bucket, policy: { method, parameters: {} } })),
    );
    expect(seen.length).toBeGreaterThan(0);
    const late = { warmupIterations: 1e9, rampIterations: 1e9 };
    expect(() => resolvePlan({ method: 'topk', ...late })).not.toThrow();
    expect(() => resolvePlan({ method: 'topk', warmupIterations: 1e9 + 1 })).toThrow();
    expect(Math.min(...seen)).toBeGreaterThanOrEqual(2e9);
  });
});

describe('the forecast of a step', () => {
  const topk = { method: 'topk', ratio: 0.01 };

  test('is what computes, compresses, travels and decompresses', () => {
    const collective = findCollective('ssar-split-allgather');
    const step = forecastStep(rehearsed(topk), collective.id, setting);
    const shape = { ranks: 4, length: N, payloadBytes: 8 * 201, nnz: 201 };
    expect(step.exchange).toBeCloseTo(collective.cost(shape, LOOPBACK), 12);
    expect(step.compress).toBe(1e-3);
    // K entries to scatter, not k.
    const more = expectedUnion(N, 201, 4) - 201;
    expect(step.decompress).toBeCloseTo(2e-3 + more * 5 * LOOPBACK.gamma, 12);
    expect(step.step).toBeCloseTo(
      0.005 + step.compress + step.exchange + step.decompress,
      12,
    );
    expect(step).toMatchObject({
      method: 'topk',
      collective: 'ssar-split-allgather',
      payloadBytes: 8 * 201,
      wireBytes: collective.wireBytes(shape),
      bound: 'compute',
    });
  });

  test('is of both rounds of a method that talks twice', () => {
    const step = forecastStep(
      rehearsed({ method: 'powersgd', rank: 2 }),
      'recursive-doubling',
      setting,
    );
    // The bias and P of 200 × 2, then Q of 100 × 2: each to two partners.
    expect(step).toMatchObject({
      payloadBytes: 4 * (100 + 400) + 4 * 200,
      wireBytes: 2 * (4 * (100 + 400) + 4 * 200),
    });
    const { alpha, beta, gamma } = LOOPBACK;
    const seconds = 2 * (2 * alpha + 2800 * beta + 700 * gamma);
    expect(step.exchange).toBeCloseTo(seconds, 12);
  });

  test('is bound by what takes longest', () => {
    const idle = { ...setting, compute: 0 };
    expect(bestForecast(rehearsed(topk), idle).bound).toBe('compression');
    const nothing = { compress: 0, decompress: 0, gathered: 0 };
    expect(bestForecast(rehearsed(topk, N, nothing), idle).bound).toBe('latency');
    const slow = { ...LOOPBACK, beta: 1e-7 };
    const wide = { ranks: 4, network: slow, compute: 0 };
    expect(bestForecast(rehearsed(topk, 1e9), wide).bound).toBe('bandwidth');
  });

  test('begins with what auto takes, the cheapest, or has the one that is named', () => {
    const [auto, ...others] = forecastPlan(rehearsed(topk), setting);
    expect(others.map(({ collective }) => collective)).not.toContain(auto!.collective);
    const named = others.filter(({ namedOnly }) => namedOnly);
    expect(named.map(({ collective }) => collective)).toEqual([
      ...['ok-topk', 'parameter-server'],
    ]);
    for (const other of others) {
      if (other.namedOnly) continue;
      expect(auto!.step).toBeLessThanOrEqual(other.step);
    }
    const ring = rehearsed({ ...topk, collective: 'sparse-ring' });
    expect(forecastPlan(ring, setting).map(({ collective }) => collective)).toEqual([
      'sparse-ring',
    ]);
  });

  test('carries each bucket by its own cheapest under auto', () => {
    // A large bucket, whose bytes cost most, and a small one, whose messages do.
    const tensors = [
      { name: 'small', shape: [100], start: 0, length: 100 },
      { name: 'large', shape: [1e6], start: 100, length: 1e6 },
    ];
    const plan = resolvePlan({ method: 'none', bucketBytes: 1 });
    const subject = { plan, buckets: planBuckets(tensors, plan), ...NO_TIME };
    const [auto, ...others] = forecastPlan(subject, { ...setting, ranks: 16 });
    for (const { exchange } of others) expect(auto!.exchange).toBeLessThan(exchange);
  });

  test('decodes the payload of every rank where they are gathered', () => {
    const times = { compress: 1e-3, decompress: 2e-3, gathered: 2e-3 };
    const exchange = { method: 'qsgd', bits: 4, bucket: 512, minElements: 0 };
    const qsgd = rehearsed(exchange, N, times);
    const step = bestForecast(qsgd, setting);
    expect(step.decompress).toBeCloseTo(4 * 2e-3, 12);
    expect(step.wireBytes).toBe(3 * (4 * Math.ceil(N / 512) + N / 2 + 2));
    expect(step.collective).toBe('allgather');
  });

  test('has as much to decode of gathered payloads, however many others are summed', () => {
    const times = { compress: 1e-3, decompress: 2e-3, gathered: 1.5e-3 };
    for (const small of [1, 10]) {
      const tensors = Array.from({ length: small }, (_, i) => ({
        name: `b${i}`,
        shape: [10],
        start: 10 * i,
        length: 10,
      }));
      const start = 10 * small;
      tensors.push({ name: 'w', shape: [N], start, length: N });
      const plan = resolvePlan({ method: 'qsgd', minElements: 1000, bucketBytes: 1 });
      const subject = { plan, buckets: planBuckets(tensors, plan), ...times };
      expect(subject.buckets).toHaveLength(small + 1);
      const { decompress } = bestForecast(subject, setting);
      expect(decompress).toBeCloseTo(2e-3 + 3 * 1.5e-3, 12);
    }
  });

  test('counts sums that are quantised on their way as such', () => {
    const collective = 'dsar-split-allgather';
    const as = (change: object): number =>
      forecastStep(rehearsed({ ...topk, collective, ...change }), collective, setting)
        .wireBytes;
    expect(as({ quantizeSums: { bits: 4 } })).toBeLessThan(as({}) / 4);
    expect(as({ quantizeSums: { format: 'e4m3' } })).toBeLessThan(as({}) / 2);
  });

  test('counts as many servers as the plan says, or as there are ranks', () => {
    const collective = 'parameter-server';
    const of = (servers: number, ranks: number): StepForecast =>
      forecastPlan(rehearsed({ method: 'none', collective, servers }, 1200), {
        ...setting,
        ranks,
      })[0]!;
    expect(of(1, 4)).toMatchObject({ collective, servers: 1, wireBytes: 3 * 4800 });
    expect(of(3, 4)).toMatchObject({ servers: 3, wireBytes: 3200 + 3 * 1600 });
    expect(of(3, 2)).toMatchObject({ servers: 2, wireBytes: 2400 + 2400 });
    const auto = forecastPlan(rehearsed({ method: 'none' }), setting);
    expect(auto[0]!.servers).toBeUndefined();
    expect(auto.find((one) => one.collective === collective)!.servers).toBe(1);
  });

  test('of a hundred thousand ranks is finite', () => {
    const many = { ...setting, ranks: 100_000 };
    for (const step of forecastPlan(rehearsed(topk), many)) {
      expect(Number.isFinite(step.step) && Number.isFinite(step.wireBytes)).toBe(true);
    }
  });
});

const NO_TIME = { compress: 0, decompress: 0, gathered: 0 };

test(
  'of a gradient that no arena has room for, the first buckets are rehearsed',
  {
    tags: 'soak',
  },
  async () => {
    const length = 50_000_000;
    const tensors = Array.from({ length: 24 }, (_, i) => ({
      name: `w${i}`,
      shape: [length],
      start: i * length,
      length,
    }));
    const buckets = planBuckets(tensors, resolvePlan({ method: 'topk' }));
    const { compress, decompress } = await rehearse(buckets);
    expect(Math.min(compress, decompress)).toBeGreaterThan(0);
  },
);
