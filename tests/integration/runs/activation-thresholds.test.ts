/** How large the activations are that stages pass on, in the records of runs that ask for it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

/** Of a rank, by iteration, what it says of thresholds: sparsities and means. */
async function train(settings: Record<string, unknown>) {
  const records = await node.train({
    world: { ranks: 2 },
    parallelism: { pipeline: { splitAfter: ['layer1'], microBatches: 2 } },
    iterations: 5,
    ...settings,
  });
  expect(records.at(-1)).toMatchObject({ type: 'done' });
  const iterations = records.filter(
    (record) => record.type === 'iteration',
  ) as IterationRecord[];
  return (rank: number) =>
    iterations
      .filter((record) => record.rank === rank)
      .map(({ activations }) => activations?.thresholds);
}

const activations = (method: string) => ({
  exchange: { method: 'none', activations: { method, sparsity: 0.9 } },
});

test('are of every other iteration, of the stage that passes them on', async () => {
  const thresholds = await train({ inspectEvery: 2 });
  expect(thresholds(0).map((found) => found !== undefined)).toEqual([
    ...[false, true, false, true, false],
  ]);
  expect(thresholds(1)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  for (const found of thresholds(0).flatMap((one) =>
    one === undefined ? [] : [one],
  )) {
    expect(found.map(({ sparsity }) => sparsity)).toEqual([0.5, 0.75, 0.9, 0.95, 0.98]);
    // Fewer units pass a higher threshold.
    const means = found.map(({ mean }) => mean);
    expect(means).toEqual(means.toSorted((a, b) => a - b));
    expect(means.at(-1)).toBeGreaterThan(0);
  }
});

test('are recorded only on request', { tags: 'soak' }, async () => {
  const thresholds = await train({});
  expect(thresholds(0).every((found) => found === undefined)).toBe(true);
});

test('are those of all units, before any are left out', { tags: 'soak' }, async () => {
  const whole = (await train({ inspectEvery: 1 }))(0);
  const sparse = (await train({ inspectEvery: 1, ...activations('dct-mp') }))(0);
  // The first weights and samples are the same; then each trains by what the other does not have.
  expect(sparse[0]).toEqual(whole[0]);
  expect(sparse[4]).not.toEqual(whole[4]);
});
