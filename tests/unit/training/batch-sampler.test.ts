import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import { runs } from '../../harness/effort.ts';

const batches = (sampler: BatchSampler, iterations: readonly number[]) =>
  iterations.map((iteration) => {
    const out = new Uint32Array(sampler.batch);
    sampler.fill(iteration, out);
    return [...out];
  });

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

test('every epoch sees every sample once, for any size and batch', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 90 }),
      fc.integer({ min: 0, max: 0xffffffff }),
      (count, batch, seed) => {
        const sampler = new BatchSampler({ count, batch, seed, rank: 2 });
        const epochs = 5;
        const iterations = Math.ceil((epochs * count) / batch);
        const stream = batches(sampler, range(iterations)).flat();
        for (let epoch = 0; epoch < epochs; epoch++) {
          const seen = stream.slice(epoch * count, (epoch + 1) * count);
          expect(seen.sort((a, b) => a - b)).toEqual(range(count));
        }
      },
    ),
    { numRuns: runs(100) },
  );
});

test('a batch depends on the iteration alone, not on what was asked before', () => {
  const options = { count: 100, batch: 32, seed: 5, rank: 1 };
  const forwards = batches(new BatchSampler(options), range(20));
  const backwards = batches(new BatchSampler(options), range(20).reverse()).reverse();
  expect(backwards).toEqual(forwards);
});

test('seeds, ranks and epochs shuffle differently', () => {
  const order = (seed: number, rank: number, epoch: number) =>
    batches(new BatchSampler({ count: 50, batch: 50, seed, rank }), [epoch])[0]!.join();
  const orders = [order(1, 0, 0), order(2, 0, 0), order(1, 1, 0), order(1, 0, 1)];
  expect(new Set([...orders, range(50).join()]).size).toBe(5);
});

test('the billionth iteration is as good as the first', () => {
  const sampler = new BatchSampler({ count: 2000, batch: 65_536, seed: 1, rank: 0 });
  const [batch] = batches(sampler, [999_999_999]);
  expect(Math.max(...batch!)).toBe(1999);
  expect(Math.min(...batch!)).toBe(0);
});
