import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBuckets, type FlatTensor } from '../../../src/agent/exchange/buckets.ts';

function flat(lengths: readonly number[]): FlatTensor[] {
  let start = 0;
  return lengths.map((length, index) => {
    const tensor = { name: `t${index}`, shape: [length], start, length };
    start += length;
    return tensor;
  });
}

describe('bucketing', () => {
  it('fuses from the last tensor on, in order of readiness', () => {
    const buckets = planBuckets(flat([100, 10, 10, 10]), 80);
    expect(buckets.map(({ start, length }) => [start, length])).toEqual([
      [110, 20],
      [0, 110],
    ]);
    expect(buckets[1]!.tensors.map(({ name, start }) => [name, start])).toEqual([
      ['t0', 0],
      ['t1', 100],
    ]);
  });

  it('covers every element once, whatever the sizes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5000 }),
        (lengths, bucketBytes) => {
          const tensors = flat(lengths);
          const total = lengths.reduce((sum, length) => sum + length, 0);
          const buckets = planBuckets(tensors, bucketBytes);
          const covered = new Uint8Array(total);
          for (const { start, length } of buckets) {
            for (let i = start; i < start + length; i++) covered[i]!++;
          }
          expect(covered.every((times) => times === 1)).toBe(true);
          // All but the last to become ready reach the size asked for.
          for (const { length } of buckets.slice(0, -1)) {
            expect(4 * length).toBeGreaterThanOrEqual(bucketBytes);
          }
        },
      ),
    );
  });
});
