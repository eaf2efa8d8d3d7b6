/** Streams that turn dense at a given δ: the same sums, other bytes, alike on all ranks. */
import { afterAll, describe, expect, test } from 'vitest';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import { LOOPBACK } from '../../../src/shared/cost-model/network-cost.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import { floats, runCollective, sameBits } from './run-collective.ts';
import { doublingSent, sparseRingSent } from './stream-oracle.ts';
import { closeSharedWorlds, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

const LENGTH = 1200;
const DELTAS = [0.02, 0.15, 0.3, 0.5] as const;

/** Inputs of which each has about this share of entries. */
const inputsOf = (ranks: number, density: number): Float32Array[] =>
  Array.from({ length: ranks }, (_, rank) =>
    floats(17 * ranks + rank, LENGTH, density),
  );

const sparseIds = Object.keys(collectiveCases).filter(
  // Its sums leave entries out; which ones is another test's matter.
  (id) => collectiveCases[id]!.kind === 'sparse' && id !== 'ok-topk',
);

describe.each(sparseIds)('%s', (id) => {
  test.each([2, 3, 5, 8])('P = %d: the same sums with any δ', async (ranks) => {
    const world = await sharedWorld(ranks);
    const inputs = inputsOf(ranks, 0.06);
    const run = (delta: number | undefined) =>
      runCollective(
        { ...collectiveOf(id), delta },
        world.communicators(),
        'sparse',
        inputs,
      );
    const usual = await run(undefined);
    for (const delta of DELTAS) {
      const outcomes = await run(delta);
      for (const { sum } of outcomes) {
        expect(sameBits(sum, outcomes[0]!.sum)).toBe(true);
        // A sum over all at once adds rank by rank, a tree of streams does not.
        if (id === 'sparse-allgather') {
          for (const [i, value] of sum.entries()) {
            expect(value).toBeCloseTo(usual[0]!.sum[i]!, 4);
          }
        } else expect(sameBits(sum, usual[0]!.sum)).toBe(true);
      }
      if (delta === 0.5) {
        expect(outcomes.map((one) => one.sentBytes)).toEqual(
          usual.map((one) => one.sentBytes),
        );
      }
    }
  });
});

describe.each([
  ['ssar-recursive-doubling', doublingSent],
  ['sparse-ring', sparseRingSent],
] as const)('%s', (id, sent) => {
  test.each(DELTAS)('sends the bytes of δ = %f·N, as predicted', async (delta) => {
    for (const ranks of [2, 3, 4, 7]) {
      const world = await sharedWorld(ranks);
      const inputs = inputsOf(ranks, 0.06);
      const outcomes = await runCollective(
        { ...collectiveOf(id), delta },
        world.communicators(),
        'sparse',
        inputs,
      );
      const bytes = outcomes.map(({ sentBytes }) => sentBytes);
      expect(bytes).toEqual(sent(inputs, delta));
      if (ranks === 3 || ranks === 7) continue;
      const nnz = inputs[0]!.filter((value) => value !== 0).length;
      const shape = { ranks, length: LENGTH, payloadBytes: 8 * nnz, nnz, delta };
      const { wireBytes } = predict(collectiveOf(id), shape, LOOPBACK);
      expect(Math.max(...bytes) / wireBytes).toBeGreaterThan(0.85);
      expect(Math.max(...bytes) / wireBytes).toBeLessThan(1.15);
    }
  });
});
