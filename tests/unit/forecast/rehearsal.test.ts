import { describe, expect, test } from 'vitest';
import {
  rehearse,
  type RehearsedMessage,
  type Rehearsal,
} from '../../../src/agent/forecast/rehearsal.ts';
import {
  collectivesOf,
  forecastStep,
  type ForecastSetting,
  type StepForecast,
} from '../../../src/agent/forecast/step-forecast.ts';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import { methods } from '../../../src/agent/compression/registry.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { expectedUnion } from '../../../src/shared/cost-model/fill-in.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import { messagesOf } from './lone-execution.ts';

const TENSORS = [
  { name: 'w1', shape: [200, 100], start: 0, length: 20_000 },
  { name: 'b1', shape: [100], start: 20_000, length: 100 },
];
const N = 20_100;
const setting = { ranks: 4, network: LOOPBACK, compute: 0.005 };

function bestForecast(
  plan: ReturnType<typeof resolvePlan>,
  rehearsal: Rehearsal,
  given: ForecastSetting,
): StepForecast {
  return collectivesOf(plan, rehearsal)
    .map((collective) => forecastStep(plan, rehearsal, collective, given))
    .reduce((best, other) => (other.step < best.step ? other : best));
}

describe('a rehearsal', () => {
  test.each([...methods.keys()])('of %s says what an exchange says', async (method) => {
    const plan = resolvePlan({ method });
    const { messages, compress, decompress } = await rehearse(plan, TENSORS, 100);
    const said = await messagesOf(plan, TENSORS, 100, 4);
    const roundOf = ({ operation, kind, length }: RehearsedMessage): object => ({
      ...{ operation, kind, length },
    });
    expect(messages.map(roundOf)).toEqual(said.map(roundOf));
    for (const [round, { bytes }] of messages.entries()) {
      // Two methods send what exceeds a threshold: about as much of other noise.
      const apart = /^(threshold|gaussiank)$/.test(method) ? 0.5 : 0;
      expect(Math.abs(bytes / said[round]!.bytes - 1)).toBeLessThanOrEqual(apart);
    }
    expect(compress).toBeGreaterThan(0);
    expect(decompress).toBeGreaterThan(0);
  });

  test('knows what a method sends', async () => {
    const topk = await rehearse(
      resolvePlan({ method: 'topk', ratio: 0.01 }),
      TENSORS,
      0,
    );
    expect(topk.messages).toEqual([
      { operation: 'reduce', kind: 'sparse', length: N, bytes: 8 * 201, nnz: 201 },
    ]);
    const scalecom = await rehearse(resolvePlan({ method: 'scalecom' }), TENSORS, 0);
    expect(scalecom.messages.map(({ operation }) => operation)).toEqual([
      'broadcast',
      'reduce',
    ]);
    const qsgd = await rehearse(resolvePlan({ method: 'qsgd' }), TENSORS, 0);
    expect(qsgd.messages.map(({ operation }) => operation)).toEqual(['gather']);
  });

  test('is of the iteration that is asked for: after a warm-up, sparse', async () => {
    const plan = resolvePlan({ method: 'topk', warmupIterations: 50 });
    const [early] = (await rehearse(plan, TENSORS, 0)).messages;
    const [late] = (await rehearse(plan, TENSORS, 60)).messages;
    expect([early!.kind, late!.kind]).toEqual(['dense', 'sparse']);
  });

  test('goes by buckets', async () => {
    const plan = resolvePlan({ method: 'none', bucketBytes: 100 });
    const { messages } = await rehearse(plan, TENSORS, 0);
    expect(messages.map(({ length }) => length)).toEqual([100, 20_000]);
  });
});

describe('the forecast of a step', () => {
  const topk = resolvePlan({ method: 'topk', ratio: 0.01 });
  const message = {
    operation: 'reduce',
    kind: 'sparse',
    length: N,
    bytes: 8 * 201,
    nnz: 201,
  } as const;
  const rehearsal = { messages: [message], compress: 1e-3, decompress: 2e-3 };

  test('is what computes, compresses, travels and decompresses', () => {
    const collective = findCollective('ssar-split-allgather');
    const step = forecastStep(topk, rehearsal, collective, setting);
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

  test('is bound by what takes longest', () => {
    const bound = (more: object): string =>
      bestForecast(topk, { ...rehearsal, ...more }, { ...setting, compute: 0 }).bound;
    expect(bound({})).toBe('compression');
    const nothing = { compress: 0, decompress: 0 };
    expect(bound(nothing)).toBe('latency');
    const large = { ...message, length: 1e9, bytes: 8e7, nnz: 1e7 };
    const slow = { ...LOOPBACK, beta: 1e-7 };
    const wide = { ranks: 4, network: slow, compute: 0 };
    const { bound: of } = bestForecast(topk, { ...rehearsal, messages: [large] }, wide);
    expect(of).toBe('bandwidth');
  });

  test('takes the best of the collectives, or the one that is named', () => {
    const best = bestForecast(topk, rehearsal, setting);
    for (const collective of collectivesOf(topk, rehearsal)) {
      const other = forecastStep(topk, rehearsal, collective, setting);
      expect(best.step).toBeLessThanOrEqual(other.step);
    }
    const named = { ...topk, collective: 'sparse-ring' };
    expect(bestForecast(named, rehearsal, setting).collective).toBe('sparse-ring');
  });

  test('decodes the payload of every rank where they are gathered', () => {
    const qsgd = resolvePlan({ method: 'qsgd' });
    const gathered = {
      messages: [{ operation: 'gather', kind: 'quantized', length: N, bytes: 1e4 }],
      compress: 1e-3,
      decompress: 2e-3,
    } as const;
    const step = bestForecast(qsgd, gathered, setting);
    expect(step.decompress).toBeCloseTo(4 * 2e-3, 12);
    expect(step.wireBytes).toBe(3e4);
    expect(step.collective).toBe('allgather');
  });

  test('counts sums that are quantised on their way as such', () => {
    const collective = 'dsar-split-allgather';
    const carrier = findCollective(collective);
    const as = (change: object): number => {
      const plan = resolvePlan({ method: 'topk', ratio: 0.01, collective, ...change });
      return forecastStep(plan, rehearsal, carrier, setting).wireBytes;
    };
    expect(as({ quantizeSums: { bits: 4 } })).toBeLessThan(as({}) / 4);
  });

  test('of a hundred thousand ranks is finite', () => {
    for (const collective of collectivesOf(topk, rehearsal)) {
      const step = forecastStep(topk, rehearsal, collective, {
        ...setting,
        ranks: 100_000,
      });
      expect(Number.isFinite(step.step) && Number.isFinite(step.wireBytes)).toBe(true);
    }
  });
});
