import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBuckets, type FlatTensor } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';

function flat(lengths: readonly number[]): FlatTensor[] {
  let start = 0;
  return lengths.map((length, index) => {
    const name = `t${index}.${index % 2 === 0 ? 'weight' : 'bias'}`;
    const tensor = { name, shape: [length], start, length };
    start += length;
    return tensor;
  });
}

describe('bucketing', () => {
  it('fuses from the last tensor on, in order of readiness', () => {
    const plan = resolvePlan({ method: 'topk', bucketBytes: 80 });
    const buckets = planBuckets(flat([100, 10, 10, 10]), plan);
    expect(buckets.map(({ index, runs }) => [index, runs])).toEqual([
      [0, [{ flat: 110, start: 0, length: 20 }]],
      [1, [{ flat: 0, start: 0, length: 110 }]],
    ]);
    expect(buckets[1]!.tensors.map(({ name, start }) => [name, start])).toEqual([
      ['t0.weight', 0],
      ['t1.bias', 100],
    ]);
  });

  it('lets no bucket cross models that step in turns', () => {
    const lengths = [100, 10, 10, 100, 10, 10];
    const tensors = flat(lengths).map((one, i) => ({ ...one, model: i < 3 ? 0 : 1 }));
    const layers = [{ match: 't4.*', method: 'none' }];
    for (const method of ['topk', 'a2sgd']) {
      const plan = resolvePlan({ method, bucketBytes: 1 << 20, layers });
      const buckets = planBuckets(tensors, plan);
      expect(
        buckets.map(({ model, runs }) => [model, ...runs.map(({ flat }) => flat)]),
      ).toEqual([
        [1, 120, 230],
        [1, 220],
        [0, 0],
      ]);
      expect(buckets.map(({ index }) => index)).toEqual([0, 1, 2]);
    }
  });

  it('makes one bucket for a method that needs the whole model, however small', () => {
    const tensors = flat([100, 10, 200, 20, 300]);
    const plan = resolvePlan({ method: 'a2sgd', bucketBytes: 80 });
    expect(planBuckets(tensors, plan).map(({ runs }) => runs)).toEqual([
      [{ flat: 0, start: 0, length: 630 }],
    ]);
    const layers = [{ match: '*.bias', method: 'none' }];
    const apart = resolvePlan({ method: 'a2sgd', bucketBytes: 80, layers });
    const buckets = planBuckets(tensors, apart).map(({ policy, length }) => [
      policy.method.id,
      length,
    ]);
    expect(buckets.filter(([id]) => id === 'a2sgd')).toEqual([['a2sgd', 600]]);
    const many = resolvePlan({
      method: 'a2sgd',
      bucketBytes: 80,
      granularity: 'bucket',
    });
    expect(planBuckets(tensors, many).length).toBeGreaterThan(1);
  });

  it('fuses tensors that lie apart, where they have the same method', () => {
    const plan = resolvePlan({
      method: 'topk',
      layers: [{ match: '*.bias', method: 'none' }],
    });
    const buckets = planBuckets(flat([100, 10, 200, 20, 300]), plan);
    expect(buckets.map(({ policy, runs }) => [policy.method.id, runs])).toEqual([
      [
        'topk',
        [
          { flat: 0, start: 0, length: 100 },
          { flat: 110, start: 100, length: 200 },
          { flat: 330, start: 300, length: 300 },
        ],
      ],
      [
        'none',
        [
          { flat: 100, start: 0, length: 10 },
          { flat: 310, start: 10, length: 20 },
        ],
      ],
    ]);
    expect(buckets[1]!.tensors).toEqual([
      { name: 't1.bias', shape: [10], start: 0, length: 10 },
      { name: 't3.bias', shape: [20], start: 10, length: 20 },
    ]);
  });

  it('keeps one bucket where layers ask for what the others have', () => {
    const plan = resolvePlan({
      method: 'topk',
      ratio: 0.1,
      layers: [{ match: '*.bias', ratio: 0.1 }],
    });
    expect(planBuckets(flat([100, 10, 200]), plan)).toHaveLength(1);
  });

  const exchange = fc.record({
    method: fc.constantFrom('topk', 'qsgd', 'none', 'dct'),
    layers: fc.array(
      fc.record({
        match: fc.constantFrom('*.bias', 't1*', 't2.weight', '*'),
        method: fc.constantFrom('none', 'topk', 'a2sgd'),
      }),
      { maxLength: 3 },
    ),
    bucketBytes: fc.integer({ min: 1, max: 5000 }),
  });

  it('covers every element once, whatever sizes, layers and buckets', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 20 }),
        exchange,
        (lengths, written) => {
          const tensors = flat(lengths);
          const plan = resolvePlan(written);
          const buckets = planBuckets(tensors, plan);
          const covered = new Uint8Array(lengths.reduce((sum, n) => sum + n, 0));
          const small = new Map<string, number>();
          for (const { length, policy, runs, tensors: slices } of buckets) {
            let start = 0;
            for (const run of runs) {
              expect(run.start).toBe(start);
              for (let i = 0; i < run.length; i++) covered[run.flat + i]!++;
              start += run.length;
            }
            expect(start).toBe(length);
            // Every tensor lies where the runs put its elements.
            for (const slice of slices) {
              const tensor = tensors.find(({ name }) => name === slice.name)!;
              const run = runs.findLast((one) => one.start <= slice.start)!;
              expect(run.flat + slice.start - run.start).toBe(tensor.start);
            }
            if (4 * length >= plan.bucketBytes) continue;
            const key = JSON.stringify([policy.method.id, policy.parameters]);
            small.set(key, (small.get(key) ?? 0) + 1);
          }
          expect(covered.every((times) => times === 1)).toBe(true);
          // Of each method all but the last to become ready reach the size asked for.
          expect([...small.values()].every((count) => count === 1)).toBe(true);
        },
      ),
    );
  });
});
