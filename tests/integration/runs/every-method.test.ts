/**
 * Every workload of the papers through every method: one run each, which switches from method
 * to method, with what each keeps.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { effort } from '../../harness/effort.ts';
import { canRunWebGpu, saySkipped, webGpuEnvironment } from '../../harness/webgpu.ts';
import { SupervisorNode } from './supervisor-node.ts';

/** Iterations under each method: its first, and one that goes on from what it keeps. */
const EACH = 2;

const workloads: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  fnn3: { dataset: 'digits', batchPerRank: 8 },
  'lstm-small': { dataset: 'sentences', batchPerRank: 2 },
  'dlrm-small': { dataset: 'clicks', batchPerRank: 8 },
  'logistic-regression': { dataset: 'sparse', batchPerRank: 8 },
};

const tried = effort({ quick: ['fnn3'], soak: Object.keys(workloads) });

// A GPU's kernels are compiled anew by each rank, for minutes where the CPU plays the GPU.
const backends = effort({ quick: ['wasm'], soak: ['wasm', 'webgpu'] } as const);
const ranksTried = effort({ quick: [2], soak: [1, 2, 3, 4] });
if (!canRunWebGpu) saySkipped('every method on webgpu');

describe.each(backends)('on %s', (backend) => {
  const skipped = backend === 'webgpu' && !canRunWebGpu;
  let node: SupervisorNode;
  beforeAll(async () => {
    if (!skipped) node = await SupervisorNode.start(undefined, webGpuEnvironment);
  });
  afterAll(async () => {
    if (!skipped) await node[Symbol.asyncDispose]();
  });

  describe.skipIf(skipped).each(tried)('%s', (model) => {
    const workload = workloads[model];
    it.each(ranksTried)('goes through every method with %i ranks', async (ranks) => {
      const ids = [...methods.keys()];
      const iterations = EACH * (ids.length + 1);
      const records = await node.train(
        {
          workload: { model, ...workload },
          optimizer: { lr: 0.01 },
          iterations,
          backend,
          timeoutSeconds: 240,
          world: { ranks, ...(backend === 'webgpu' ? { shareGpu: true } : {}) },
        },
        // The last promises equal replicas.
        [...ids, 'none'].map((method, i) => ({ at: EACH * i, change: { method } })),
      );
      const done = records.at(-1) as DoneRecord;
      expect(done).toMatchObject({ type: 'done', iterations, consistent: true });
      expect(records.find(({ type }) => type === 'started')).toMatchObject({ backend });
      const made = records.filter(
        (record): record is IterationRecord => record.type === 'iteration',
      );
      for (let rank = 0; rank < ranks; rank++) {
        const own = made.filter((record) => record.rank === rank);
        expect(own.map(({ iteration }) => iteration)).toEqual([
          ...Array(iterations).keys(),
        ]);
        expect(own.map(({ method }) => method)).toEqual(
          [...ids, 'none'].flatMap((id) => Array.from({ length: EACH }, () => id)),
        );
        // What was learnt in so few iterations is little; what was spoilt would show.
        expect(own.at(-1)!.loss).toBeLessThan(2 * own[0]!.loss!);
      }
      // `nonzero` reads what it compresses back to the host.
      const warned = records.flatMap((record) =>
        record.type === 'notice' && record.level === 'warning' ? [record.code] : [],
      );
      expect(warned.filter((code) => code !== 'METHOD_NOT_ON_GPU')).toEqual([]);
    });
  });
});
