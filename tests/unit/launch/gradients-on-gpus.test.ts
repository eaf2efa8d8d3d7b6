/** Launches whose gradient only a GPU may hold, checked on a machine that need not have one. */
import { expect, test } from 'vitest';
import { mayHaveGpu } from '../../../src/agent/training/create-trainer.ts';
import { checkedLaunch } from '../../harness/checked-launch.ts';

/** Gradient and residual of two tensors, more than an arena can hold even in windows. */
const launch = (backend: string, allotted?: boolean): unknown =>
  checkedLaunch(
    {
      workload: {
        model: 'synthetic-gradient',
        dataset: 'none',
        batchPerRank: 1,
        synthetic: { layers: [5e8, 5e8], computeMs: 1 },
      },
      iterations: 10,
      backend,
      exchange: { method: 'topk', ratio: 0.01 },
      world: { ranks: 2 },
    },
    [],
    undefined,
    { allotted },
  );

test('are left to the ranks, which may be on other machines', () => {
  expect(() => launch('webgpu')).not.toThrow();
  expect(() => launch('wasm')).toThrow(
    expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }),
  );
});

test('of nodes that a scheduler allots are left to them: a login node has no GPU', () => {
  expect(() => launch('auto', true)).not.toThrow();
  expect(() => launch('wasm', true)).toThrow(
    expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }),
  );
});

test.skipIf(mayHaveGpu())('are refused here, where there is no GPU', () => {
  expect(() => launch('auto')).toThrow(
    expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }),
  );
});
