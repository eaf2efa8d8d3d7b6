/** Test samples pass from stage to stage as those of training do. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

/** Loss on the test set, of weights that training does not move. */
async function testLoss(activations?: { method: string; sparsity: number }) {
  const records = await node.train({
    world: { ranks: 2 },
    optimizer: { kind: 'sgd', lr: 1e-30, momentum: 0 },
    parallelism: { pipeline: { splitAfter: ['layer1'], microBatches: 2 } },
    exchange: { method: 'none', ...(activations === undefined ? {} : { activations }) },
    iterations: 1,
  });
  const [evaluation] = records.filter((record) => record.type === 'evaluation');
  return evaluation!.loss!;
}

test(
  'a model is tested as it is trained, without the units that are left out',
  { tags: 'soak' },
  async () => {
    const whole = await testLoss();
    expect(await testLoss({ method: 'dct-mp', sparsity: 0 })).toBe(whole);
    // Gradients alone are compressed.
    expect(await testLoss({ method: 'topk-backward', sparsity: 0.9 })).toBe(whole);
    expect(await testLoss({ method: 'dct-mp', sparsity: 0.9 })).not.toBeCloseTo(
      whole,
      3,
    );
  },
);
