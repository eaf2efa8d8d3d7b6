/**
 * SVRG, and QSVRG where its gradients are rounded: on a strongly convex problem it goes on to the
 * minimum where SGD at the same rate stays as far from it as its noise takes it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ofType } from '../../harness/records.ts';
import { FEATURES, SAMPLES, smallestLoss, writeSamples } from './logistic-problem.ts';
import { SupervisorNode } from './supervisor-node.ts';

/** Shards of 45 leave 3 over. */
const BATCH = 7;

let node: SupervisorNode;
let file: string;
beforeAll(async () => {
  node = await SupervisorNode.start();
  // Evaluated on what it is trained on.
  file = writeSamples(node.home.directory);
});
afterAll(() => node[Symbol.asyncDispose]());

const ITERATIONS = 600;

/** Loss over all samples less the smallest, after every hundredth iteration. */
async function gaps(
  optimizer: Readonly<Record<string, unknown>>,
  exchange: Readonly<Record<string, unknown>>,
  { ranks = 2, batchPerRank = BATCH } = {},
): Promise<readonly number[]> {
  const records = await node.train({
    workload: {
      model: 'logistic-regression',
      dataset: 'svmlight',
      data: file,
      features: FEATURES,
      batchPerRank,
    },
    optimizer: { lr: 0.5, momentum: 0, ...optimizer },
    ...{ iterations: ITERATIONS, world: { ranks }, exchange, evaluateEvery: 100 },
  });
  expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  const smallest = smallestLoss();
  return ofType(records, 'evaluation').map(({ loss }) => loss! - smallest);
}

const TWO_BITS = { method: 'qsgd', bits: 2, bucket: 16, minElements: 0 };

describe('what does not go together', () => {
  it.each([
    [{ overlap: true }, 'overlap'],
    [{ doubleBuffer: true }, 'doubleBuffer'],
    [{ parallelism: { kind: 'local-steps' } }, 'optimizer.fullGradientEvery'],
    [
      { workload: { model: 'synthetic-gradient', dataset: 'none' } },
      'optimizer.fullGradientEvery',
    ],
  ])('%j', async (settings, place) => {
    const asked = node.train({ optimizer: { fullGradientEvery: 5 }, ...settings });
    await expect(asked).rejects.toMatchObject({ code: 'PARALLELISM_MISFIT', place });
  });
});

describe('a strongly convex problem', () => {
  it(
    'is solved by SVRG to the precision of its numbers, linearly',
    { tags: 'soak' },
    async () => {
      const [first, second, third, ...rest] = await gaps(
        { fullGradientEvery: 20 },
        { method: 'none' },
      );
      expect(second).toBeLessThan(first! / 3);
      expect(third).toBeLessThan(second! / 3 + 1e-6);
      for (const gap of rest) expect(Math.abs(gap)).toBeLessThan(1e-5);
    },
  );

  it(
    'is solved where gradients are rounded to two bits, and not without full ones',
    { tags: 'soak' },
    async () => {
      const reduced = await gaps({ fullGradientEvery: 20 }, TWO_BITS);
      expect(Math.abs(reduced.at(-1)!)).toBeLessThan(1e-5);
      expect(reduced[1]).toBeLessThan(reduced[0]! / 2);
      const plain = await gaps({}, TWO_BITS);
      // It stays where its noise takes it, early and late.
      for (const gap of plain.slice(2)) expect(gap).toBeGreaterThan(1e-3);
    },
  );

  it('is solved by gradient descent in signs of the gradient’s norm', async () => {
    const [first, second, third, ...rest] = await gaps(
      { lr: 0.2 },
      { method: 'qgd', minElements: 0 },
      { ranks: 1, batchPerRank: SAMPLES },
    );
    expect(second).toBeLessThan(first! / 2);
    expect(third).toBeLessThan(second! / 2 + 1e-6);
    // Weights of 32 bits, with steps of one length in each coordinate.
    expect(Math.abs(rest.at(-1)!)).toBeLessThan(2e-5);
  });
});
