/**
 * Records of what each bucket sent and kept back: held against what the same run says of
 * the whole gradient, and against what a method's parameters say it must do.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BucketsRecord } from '../../../src/shared/records/buckets.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

/** Of FNN-3. */
const TENSORS = ['layer1', 'layer2', 'layer3'].flatMap((layer) => [
  `${layer}.weight`,
  `${layer}.bias`,
]);
/** More than the biases of all layers, so that they travel with the weights before them. */
const BUCKET_BYTES = 2048;

interface Inspected {
  readonly inspected: readonly BucketsRecord[];
  /** Of rank 0, by iteration. */
  readonly iterations: readonly IterationRecord[];
  readonly weights: string;
}

async function train(settings: Record<string, unknown>): Promise<Inspected> {
  const records = await node.train({ world: { ranks: 2 }, ...settings });
  const done = records.at(-1) as DoneRecord;
  expect(done).toMatchObject({ type: 'done', consistent: true });
  return {
    inspected: records.filter((record) => record.type === 'buckets'),
    iterations: records.filter(
      (record) => record.type === 'iteration' && record.rank === 0,
    ) as IterationRecord[],
    weights: done.weights!,
  };
}

const sum = (values: readonly (number | undefined)[]): number =>
  values.reduce<number>((total, value) => total + value!, 0);

describe('what each bucket sent and kept back', () => {
  it('adds up to what the iteration says of the whole gradient', async () => {
    const { inspected, iterations } = await train({
      iterations: 11,
      inspectEvery: 1,
      exchange: {
        method: 'topk',
        ratio: 0.01,
        collective: 'sparse-allgather',
        bucketBytes: BUCKET_BYTES,
      },
    });
    expect(inspected.map(({ iteration }) => iteration)).toEqual([...Array(11).keys()]);
    for (const { buckets, iteration } of inspected) {
      const whole = iterations[iteration]!;
      expect(buckets.length).toBeGreaterThan(1);
      expect(buckets.flatMap(({ tensors }) => tensors).toSorted()).toEqual(
        TENSORS.toSorted(),
      );
      expect(4 * sum(buckets.map(({ length }) => length))).toBe(whole.bytes.dense);
      expect(sum(buckets.map(({ payload }) => payload))).toBe(whole.bytes.payload);
      expect(sum(buckets.map(({ nnzLocal }) => nnzLocal))).toBe(whole.nnzLocal);
      expect(sum(buckets.map(({ nnzReduced }) => nnzReduced))).toBe(whole.nnzReduced);
      for (const { density, fillIn, method, nnzLocal, ...bucket } of buckets) {
        expect(method).toBe('topk');
        expect(density).toBe(nnzLocal! / bucket.length);
        expect(fillIn).toBe(bucket.nnzReduced! / nnzLocal!);
        // Two ranks: the same entries at best, none in common at worst.
        expect(fillIn).toBeGreaterThanOrEqual(1);
        expect(fillIn).toBeLessThanOrEqual(2);
        expect(bucket).not.toHaveProperty('thresholds');
      }
      if (whole.residualNorm === undefined) continue;
      const squares = sum(buckets.map(({ residualNorm }) => residualNorm! ** 2));
      expect(Math.sqrt(squares) / whole.residualNorm).toBeCloseTo(1, 6);
      expect(whole.residualNorm).toBeGreaterThan(0);
    }
    const measured = iterations.filter(
      ({ residualNorm }) => residualNorm !== undefined,
    );
    expect(measured.map(({ iteration }) => iteration)).toEqual([0, 10]);
  });

  it(
    'comes as often as it was asked for, and changes nothing',
    { tags: 'soak' },
    async () => {
      const settings = {
        iterations: 9,
        exchange: { method: 'topk', ratio: 0.01, collective: 'sparse-allgather' },
      };
      const looked = await train({ ...settings, inspectEvery: 4 });
      const left = await train(settings);
      expect(looked.inspected.map(({ iteration }) => iteration)).toEqual([3, 7]);
      expect(left.inspected).toEqual([]);
      expect(looked.weights).toBe(left.weights);
      expect(looked.iterations.map(({ bytes }) => bytes.wireSent)).toEqual(
        left.iterations.map(({ bytes }) => bytes.wireSent),
      );
    },
  );

  it('tells of each tensor with a method of its own, across a switch', async () => {
    const layers = [{ match: '*.bias', method: 'none' }];
    const records = await node.train(
      {
        ...{ iterations: 6, inspectEvery: 1, world: { ranks: 2 } },
        exchange: { method: 'topk', ratio: 0.01, layers },
      },
      [{ at: 3, change: { method: 'qsgd', bits: 4, layers } }],
    );
    const inspected = records.filter((record) => record.type === 'buckets');
    expect(inspected).toHaveLength(6);
    const kinds = inspected.map(({ buckets }) =>
      buckets.map(({ method }) => method).toSorted(),
    );
    for (const before of kinds.slice(0, 3)) expect(before).toEqual(['none', 'topk']);
    for (const after of kinds.slice(3)) expect(after).toEqual(['none', 'qsgd']);
    for (const { buckets } of inspected) {
      const whole = buckets.find(({ method }) => method === 'none')!;
      expect(whole.tensors.every((name) => name.endsWith('.bias'))).toBe(true);
      expect(whole.payload).toBe(4 * whole.length);
      expect(whole).not.toHaveProperty('nnzLocal');
      expect(whole).not.toHaveProperty('residualNorm');
    }
  });

  it('shows how far living thresholds have drifted', async () => {
    const { inspected, iterations } = await train({
      iterations: 9,
      inspectEvery: 1,
      exchange: { method: 'dct', ratio: 0.02, lifeSpan: 4, band: 1000 },
    });
    const seen = inspected.map(({ buckets }) => buckets.flatMap(statesOf));
    for (const [iteration, states] of seen.entries()) {
      expect(states.map(({ tensor }) => tensor).toSorted()).toEqual(TENSORS.toSorted());
      expect(sum(states.map(({ selected }) => selected))).toBe(
        iterations[iteration]!.nnzLocal,
      );
      for (const [i, state] of states.entries()) {
        // The band is so wide that nothing but their age ends thresholds.
        expect(state.age).toBe(iteration % 4);
        const before = seen[iteration - 1]?.[i];
        if (state.age! > 0) expect(state.threshold).toBe(before!.threshold);
        else if (before === undefined) expect(state).not.toHaveProperty('change');
        else {
          const change = state.threshold / before.threshold - 1;
          expect(state.change).toBeCloseTo(change, 6);
        }
        if (state.age === 0) expect(state.selected).toBe(state.wanted);
      }
    }
    // What was sent once is missing from the residual: a threshold that stays drifts.
    const drifted = seen.flat().filter(({ selected, wanted }) => selected !== wanted);
    expect(drifted.length).toBeGreaterThan(0);
  });
});

const statesOf = ({ thresholds = [] }: BucketsRecord['buckets'][number]) => thresholds;
