/** Updates that are applied, compared with uncompressed ones. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { magnitudeBins, sizeOf } from '../../../src/renderer/charts/magnitude-bins.ts';
import { SupervisorNode } from './supervisor-node.ts';
import { N, train } from './checked-training.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

describe('what is applied, compared with uncompressed', () => {
  const compared = async (ranks: number, exchange: Record<string, unknown>) => {
    const outcome = await train(node, {
      ranks,
      iterations: 6,
      compareEvery: 2,
      exchange,
    });
    const comparisons = outcome.records.filter(
      (record) => record.type === 'comparison',
    );
    expect(comparisons.map(({ iteration }) => iteration)).toEqual([1, 3, 5]);
    return { ...outcome, comparisons };
  };

  it('is the same without compression', { tags: 'soak' }, async () => {
    const { comparisons } = await compared(3, { method: 'none' });
    for (const { error, cosine } of comparisons) {
      expect(error).toBeLessThan(1e-5);
      expect(cosine).toBeCloseTo(1, 6);
    }
  });

  it(
    'is near it by many bits, and farther by few entries',
    { tags: 'soak' },
    async () => {
      const fine = await compared(2, { method: 'qsgd', bits: 8, minElements: 0 });
      const coarse = await compared(2, { method: 'topk', ratio: 0.01 });
      for (const [i, { cosine, error }] of fine.comparisons.entries()) {
        expect(error).toBeGreaterThan(0);
        expect(error).toBeLessThan(0.2);
        expect(cosine).toBeGreaterThan(0.98);
        const few = coarse.comparisons[i]!;
        expect(few.error).toBeGreaterThan(2 * error!);
        expect(few.cosine).toBeLessThan(cosine!);
        expect(few.cosine).toBeGreaterThan(0);
      }
    },
  );

  it('is a right triangle where one rank sends some of its entries', async () => {
    const [first] = (
      await node.train({
        iterations: 1,
        compareEvery: 1,
        world: { ranks: 1 },
        exchange: { method: 'topk', ratio: 0.05 },
      })
    ).filter((record) => record.type === 'comparison');
    // Nothing has been kept back before: what is sent is a projection of the gradient.
    expect(first!.error! ** 2 + first!.cosine! ** 2).toBeCloseTo(1, 6);
    expect(first!.cosine).toBeGreaterThan(0.3);
    // It is what the comparison says that this method would keep.
    const rival = first!.rivals!.find(({ ratio }) => ratio === 0.05);
    expect(rival!.cosine).toBeCloseTo(first!.cosine!, 3);
    // The largest are applied as they are, and the others not at all.
    const { applied, uncompressed } = first!;
    expect([sizeOf(applied!), sizeOf(uncompressed!)]).toEqual([N, N]);
    expect(applied!.zeros / N).toBeCloseTo(0.95, 2);
    expect(uncompressed!.zeros / N).toBeLessThan(0.9);
    const bins = magnitudeBins(uncompressed!, applied!);
    expect(bins.at(-1)!.applied).toBe(bins.at(-1)!.uncompressed);
    for (const bin of bins) {
      expect(bin.applied).toBeLessThanOrEqual(bin.uncompressed);
    }
  });

  it('has the bound that its paper proves, and keeps it', async () => {
    const [first] = (
      await node.train({
        iterations: 1,
        compareEvery: 1,
        world: { ranks: 1 },
        exchange: {
          method: 'qsgd',
          levels: 16,
          bucket: 512,
          scale: 'l2',
          minElements: 0,
        },
      })
    ).filter((record) => record.type === 'comparison');
    // √(√d/s), with one rank.
    expect(first!.bound).toBeCloseTo(Math.sqrt(Math.sqrt(512) / 16), 6);
    expect(first!.error).toBeGreaterThan(0.1);
    expect(first!.error).toBeLessThan(first!.bound!);
  });

  it(
    'keeps its bound with several ranks, which is lower',
    { tags: 'soak' },
    async () => {
      const { comparisons } = await compared(4, {
        method: 'qsgd',
        levels: 4,
        bucket: 1024,
        scale: 'l2',
        minElements: 0,
      });
      for (const { bound, error } of comparisons) {
        expect(error).toBeLessThan(bound!);
        // Gradients of four ranks are neither equal nor orthogonal.
        expect(bound).toBeLessThan(Math.sqrt(8));
        expect(bound).toBeGreaterThan(Math.sqrt(8 / 4));
      }
      const others = await compared(2, { method: 'topk', ratio: 0.01 });
      expect(others.comparisons.map(({ bound }) => bound)).toEqual([
        ...[undefined, undefined, undefined],
      ]);
    },
  );

  it('changes neither training nor bytes', { tags: 'soak' }, async () => {
    const exchange = { method: 'topk', ratio: 0.01, collective: 'sparse-allgather' };
    const looked = await compared(3, exchange);
    const left = await train(node, { ranks: 3, iterations: 6, exchange });
    expect(looked.done.weights).toBe(left.done.weights);
    const most = 3 * 8 * Math.ceil(0.01 * N);
    for (const { bytes } of looked.iterations)
      expect(bytes.wireSent).toBeLessThan(most);
  });

  it(
    'is reported not to be a gradient if it contains momentum',
    { tags: 'soak' },
    async () => {
      const records = await node.train({
        iterations: 4,
        compareEvery: 2,
        world: { ranks: 2 },
        exchange: { method: 'dgc' },
      });
      expect(records.filter(({ type }) => type === 'comparison')).toEqual([]);
      const told = records.filter(
        (record) => record.type === 'notice' && record.code === 'COMPARISON_SKIPPED',
      );
      expect(told).toHaveLength(1);
    },
  );
});
