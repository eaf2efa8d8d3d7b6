/** Launches whose gradient only a GPU may hold, checked on a machine that need not have one. */
import { expect, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';

/** Gradient and residual of two tensors, more than an arena can hold even in windows. */
const launch = (backend: string): unknown =>
  checkedLaunch({
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
  });

test('are left to the ranks, which may be on other machines', () => {
  expect(() => launch('webgpu')).not.toThrow();
  expect(() => launch('wasm')).toThrow(
    expect.objectContaining({ code: 'MEMORY_TOO_SMALL' }),
  );
});
