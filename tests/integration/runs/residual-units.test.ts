/** Runs that keep residuals in units of updates, by the book: SparCML's Algorithm 1. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { effort } from '../../harness/effort.ts';
import { ofType } from '../../harness/records.ts';
import { trainerOptions } from '../../unit/training/train-together.ts';
import { SupervisorNode } from './supervisor-node.ts';

let node: SupervisorNode;
beforeAll(async () => {
  node = await SupervisorNode.start();
});
afterAll(() => node[Symbol.asyncDispose]());

const SHAPE = {
  dataset: 'digits',
  batchPerRank: 16,
  lr: 0.2,
  world: 2,
  iterations: 24,
};
const K = 2000;

async function run(settings: readonly string[], switches: readonly string[] = []) {
  const records = await node.quickstart(
    [
      ...['backend=wasm', 'evaluateEvery=0', `world.ranks=${SHAPE.world}`],
      ...[`workload.batchPerRank=${SHAPE.batchPerRank}`, `optimizer.lr=${SHAPE.lr}`],
      ...['optimizer.momentum=0', `iterations=${SHAPE.iterations}`],
      ...['exchange.method=topk', `exchange.k=${K}`],
      // One bucket: k of all elements.
      ...['exchange.bucketBytes=1073741824', ...settings],
    ],
    switches,
  );
  const iterations = ofType(records, 'iteration').toSorted(
    (a, b) => a.iteration - b.iteration || a.rank - b.rank,
  );
  return {
    losses: iterations.map(({ loss }) => loss!),
    done: ofType(records, 'done')[0]!,
    switches: ofType(records, 'switch'),
  };
}

const UPDATE = 'exchange.residualUnits=update';
const STEPS = [
  ...['optimizer.schedule=step', 'optimizer.decayAt=[8,16]'],
  'optimizer.decayFactor=0.25',
];
const rateAt = (t: number): number =>
  SHAPE.lr * 0.25 ** [8, 16].filter((at) => t >= at).length;

/** acc ← ε + η·∇, the k largest are sent and applied, ε ← the rest; losses by rank. */
async function byTheBook(): Promise<number[]> {
  const { iterations, world } = SHAPE;
  const trainers = await Promise.all(
    Array.from({ length: world }, (_, rank) =>
      createTrainer(trainerOptions(SHAPE, rank)),
    ),
  );
  const { length } = trainers[0]!;
  const start = new Float32Array(length);
  await trainers[0]!.readWeights(start);
  const weights = Float64Array.from(start);
  const errors = trainers.map(() => new Float64Array(length));
  const losses: number[] = [];
  for (let t = 0; t < iterations; t++) {
    const update = new Float64Array(length);
    for (const [rank, trainer] of trainers.entries()) {
      await trainer.writeWeights(Float32Array.from(weights));
      const gradient = new Float32Array(length);
      trainer.loadBatch(t);
      losses.push((await trainer.computeGradient(gradient)).loss!);
      const acc = errors[rank]!;
      for (let i = 0; i < length; i++) acc[i]! += rateAt(t) * gradient[i]!;
      const order = acc.map(Math.abs).sort();
      const least = order[length - K]!;
      for (let i = 0; i < length; i++) {
        if (Math.abs(acc[i]!) < least) continue;
        update[i]! += acc[i]! / world;
        acc[i] = 0;
      }
    }
    for (let i = 0; i < length; i++) weights[i]! -= update[i]!;
  }
  for (const trainer of trainers) trainer.close();
  return losses;
}

test('are Algorithm 1 while the rate falls in steps', { tags: 'soak' }, async () => {
  const expected = await byTheBook();
  const { done, losses } = await run([...STEPS, UPDATE]);
  expect(done.consistent).toBe(true);
  expect(losses).toHaveLength(expected.length);
  for (const [index, loss] of losses.entries()) {
    expect(loss, `loss ${index}`).toBeCloseTo(expected[index]!, 4);
  }
  const gradients = await run(STEPS);
  expect(gradients.done.weights).not.toBe(done.weights);
  const apart = gradients.losses.map((loss, index) => Math.abs(loss - losses[index]!));
  expect(Math.max(...apart)).toBeGreaterThan(1e-3);
});

test(
  'have the same bits as usual while the rate stays, also with momentum',
  { tags: 'soak' },
  async () => {
    for (const momentum of effort({ quick: [0.9], soak: [0, 0.9] })) {
      const settings = [`optimizer.momentum=${momentum}`];
      const [gradients, updates] = await Promise.all([
        run(settings),
        run([...settings, UPDATE]),
      ]);
      expect(updates.done.weights).toBe(gradients.done.weights);
    }
  },
);

test('say so in the record of a switch, and keep what is kept', async () => {
  const { switches } = await run(STEPS, [
    '6:residualUnits=update',
    '12:residualUnits=gradient',
  ]);
  const seen = switches.map(({ residual, from, to }) => [
    ...[residual, from.residualUnits, to.residualUnits],
  ]);
  expect(seen).toEqual([
    ['kept', undefined, 'update'],
    ['kept', 'update', undefined],
  ]);
});
