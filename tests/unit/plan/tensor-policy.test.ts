import { describe, expect, it } from 'vitest';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import {
  driftOf,
  errorBoundOf,
  planOf,
  policyOf,
  withMomentumReplaced,
} from '../../../src/agent/plan/tensor-policy.ts';

const tensor = (name: string, length = 100): { name: string; length: number } => ({
  name,
  length,
});

describe('what a plan says of a tensor', () => {
  const plan = resolvePlan({
    method: 'topk',
    ratio: 0.05,
    minElements: 50,
    collective: 'sparse-allgather',
    layers: [
      { match: '*.bias', method: 'a2sgd', resyncEvery: 20 },
      { match: 'conv*', ratio: 0.1, minElements: 0 },
    ],
  });
  const said = (name: string, length?: number): unknown[] => {
    const { method, parameters } = policyOf(plan, tensor(name, length));
    return [method.id, parameters['ratio']];
  };

  it('is what the first pattern that fits says, else what the plan does', () => {
    expect(said('conv1.bias')).toEqual(['a2sgd', undefined]);
    expect(said('conv1.weight')).toEqual(['topk', 0.1]);
    expect(said('fc')).toEqual(['topk', 0.05]);
  });

  it('is dense below the size that its method asks for', () => {
    expect(said('fc', 50)).toEqual(['topk', 0.05]);
    expect(said('fc', 49)).toEqual(['none', undefined]);
    expect(said('conv1.weight', 1)).toEqual(['topk', 0.1]);
  });

  it('leaves small tensors to a quantiser', () => {
    const { method } = policyOf(resolvePlan({ method: 'qsgd' }), tensor('b', 1));
    expect(method.id).toBe('qsgd');
  });

  it('names the collective where it can carry the tensor', () => {
    const collective = (name: string): string =>
      planOf(plan, policyOf(plan, tensor(name))).collective;
    expect(collective('fc')).toBe('sparse-allgather');
    expect(collective('a.bias')).toBe('auto');
  });

  it('drifts if any tensor does, as often as the busiest asks', () => {
    expect(driftOf(plan, [tensor('fc'), tensor('conv1')])).toMatchObject({
      drifts: false,
    });
    expect(driftOf(plan, [tensor('fc'), tensor('a.bias')])).toEqual({
      drifts: true,
      measureEvery: 50,
      resyncEvery: 20,
    });
    const still = resolvePlan({ method: 'a2sgd', divergenceEvery: 0 });
    expect(driftOf(still, [tensor('w')])).toEqual({
      drifts: true,
      measureEvery: 0,
      resyncEvery: 0,
    });
  });
});

describe('the bound that theory has on the error of what a rank sends', () => {
  const l2 = { method: 'qsgd', scale: 'l2', levels: 4, bucket: 64, minElements: 0 };
  const bound = (exchange: Record<string, unknown>, ...lengths: readonly number[]) =>
    errorBoundOf(
      resolvePlan(exchange),
      lengths.map((length, index) => tensor(`t${index}`, length)),
    );

  it('is min(d/s², √d/s) of the longest runs, by QSGD’s Lemma 3.1', () => {
    expect(bound(l2, 1000)).toBe(2);
    expect(bound(l2, 4, 9)).toBe(9 / 16);
    expect(bound({ ...l2, levels: 8 }, 1000)).toBe(1);
    expect(bound({ ...l2, bits: 3, levels: 0, bucket: 0 }, 1e6)).toBeCloseTo(
      Math.sqrt(512) / 3,
      12,
    );
    expect(bound({ ...l2, scale: 'max' }, 1000)).toBe(2);
    expect(bound({ ...l2, scale: 'max', bucket: 4 }, 1000)).toBe(1 / 4);
  });

  it('is √n of the longest tensor for TernGrad, one level, unless it clips', () => {
    const ternary = { method: 'terngrad', clip: 0, minElements: 50 };
    expect(bound(ternary, 100, 400, 49)).toBe(20);
    expect(bound(ternary, 49)).toBeUndefined();
    expect(bound({ ...ternary, clip: 2.5 }, 100)).toBeUndefined();
    expect(bound({ ...ternary, errorFeedback: true }, 100)).toBeUndefined();
  });

  it('is missing where all travels whole, and where a paper proves none', () => {
    expect(bound({ method: 'none' }, 1000)).toBeUndefined();
    expect(bound({ ...l2, minElements: 100 }, 99)).toBeUndefined();
    expect(bound({ ...l2, minElements: 100 }, 99, 1000)).toBe(2);
    expect(bound({ ...l2, errorFeedback: true }, 1000)).toBeUndefined();
    expect(bound({ method: 'topk' }, 1000)).toBeUndefined();
    const layers = [{ match: 't1', method: 'topk' }];
    expect(bound({ ...l2, layers }, 1000)).toBe(2);
    expect(bound({ ...l2, layers }, 1000, 1000)).toBeUndefined();
    const sums = { method: 'none', quantizeSums: { bits: 8, bucket: 1024 } };
    expect(bound(sums, 1000)).toBeUndefined();
  });
});

it('the optimiser leaves momentum to the tensors of methods that have it', () => {
  const tensors = [tensor('conv'), tensor('fc'), tensor('fc.bias', 3)];
  const replaced = (exchange: Record<string, unknown>): string[] => [
    ...withMomentumReplaced(resolvePlan(exchange), tensors),
  ];
  expect(replaced({ method: 'topk' })).toEqual([]);
  expect(replaced({ method: 'dgc' })).toEqual(['conv', 'fc', 'fc.bias']);
  expect(replaced({ method: 'dgc', minElements: 10 })).toEqual(['conv', 'fc']);
  const layers = [{ match: 'fc*', method: 'dgc' }];
  expect(replaced({ method: 'topk', layers })).toEqual(['fc', 'fc.bias']);
});
