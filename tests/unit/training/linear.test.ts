/** Linear models of sparse samples, trained by the trainer, against plain TypeScript. */
import { afterEach, expect, test } from 'vitest';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { sparse } from '../../../src/agent/training/datasets/sparse.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';
import { linearStep, type PlainSample } from './linear-reference.ts';
import { samplesOf } from './sparse-rows.ts';
import { trainerOptions } from './train-together.ts';

const FEATURES = 500;
const run = { dataset: 'sparse', world: 2, batchPerRank: 16, lr: 0.5, iterations: 20 };
/** A rate at which no score is exactly 1, where the hinge has any slope from −1 to 0. */
const plain = { kind: 'sgd', lr: 0.37, momentum: 0, schedule: 'constant' } as const;

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

async function trainer(changes: Partial<TrainerOptions> = {}): Promise<Trainer> {
  const created = await createTrainer({
    ...trainerOptions(run, 0),
    model: 'logistic-regression',
    features: FEATURES,
    optimizer: plain,
    ...changes,
  });
  open.push(created);
  return created;
}

/** The samples of each iteration's batch, of rank 0. */
async function batches(): Promise<(iteration: number) => readonly PlainSample[]> {
  const shard = await sparse.open({
    ...{ inputs: {}, features: FEATURES, rank: 0, world: run.world },
  });
  const sampler = new BatchSampler({
    count: shard.train.count,
    batch: run.batchPerRank,
    seed: 1,
    rank: 0,
  });
  return (iteration) => {
    const rows = new Uint32Array(run.batchPerRank);
    sampler.fill(iteration, rows);
    return samplesOf(shard, shard.train, rows);
  };
}

const weightsOf = async (from: Trainer): Promise<Float32Array> => {
  const weights = new Float32Array(from.length);
  await from.readWeights(weights);
  return weights;
};

test.each([
  ['logistic-regression', 'logistic'],
  ['linear-svm', 'hinge'],
] as const)(
  '%s has the loss and the gradient of plain TypeScript',
  async (model, kind) => {
    const trained = await trainer({ model });
    expect(trained.length).toBe(FEATURES + 1);
    const batchOf = await batches();
    // What the exchange has left there must not stay.
    const gradient = new Float32Array(trained.length).fill(7);
    for (let iteration = 0; iteration < run.iterations; iteration++) {
      const expected = linearStep(kind, await weightsOf(trained), batchOf(iteration));
      trained.loadBatch(iteration);
      const { loss, metric } = await trained.computeGradient(gradient);
      expect(loss).toBeCloseTo(expected.loss, 4);
      expect(metric! * run.batchPerRank).toBeCloseTo(expected.hits, 4);
      for (const [i, value] of expected.gradient.entries()) {
        expect(Math.abs(gradient[i]! - value)).toBeLessThan(1e-5);
        // Where no sample has a feature, not even a rounding error.
        if (value === 0) expect(gradient[i]).toBe(0);
      }
      await trained.applyGradient(gradient, iteration);
    }
  },
);

test('scores far from 0 have a finite loss and gradient', async () => {
  const trained = await trainer();
  for (const size of [1e4, -1e4]) {
    await trained.writeWeights(new Float32Array(trained.length).fill(size));
    trained.loadBatch(0);
    const gradient = new Float32Array(trained.length);
    const { loss } = await trained.computeGradient(gradient);
    expect(loss).toBeGreaterThan(1e4);
    expect(loss).toBeLessThan(1e7);
    expect(gradient.every(Number.isFinite)).toBe(true);
  }
});

test('weights and velocities come out and go in as they are', async () => {
  const options = { optimizer: { ...plain, momentum: 0.9, weightDecay: 0.01 } };
  const straight = await trainer(options);
  const stopped = await trainer(options);
  const resumed = await trainer(options);
  const gradient = new Float32Array(straight.length);
  const step = async (of: Trainer, iteration: number): Promise<void> => {
    of.loadBatch(iteration);
    await of.computeGradient(gradient);
    await of.applyGradient(gradient, iteration);
  };
  for (let iteration = 0; iteration < 6; iteration++) await step(straight, iteration);
  for (let iteration = 0; iteration < 3; iteration++) await step(stopped, iteration);
  const state = new Float32Array(stopped.stateLength);
  await stopped.readState(state);
  await resumed.writeWeights(await weightsOf(stopped));
  await resumed.writeState(state);
  for (let iteration = 3; iteration < 6; iteration++) await step(resumed, iteration);
  expect(await weightsOf(resumed)).toEqual(await weightsOf(straight));
});

test('a velocity restarts when a method takes over momentum', async () => {
  const trained = await trainer({ optimizer: { ...plain, momentum: 0.9 } });
  const gradient = new Float32Array(trained.length).fill(1);
  await trained.applyGradient(gradient, 0);
  const state = new Float32Array(trained.stateLength);
  await trained.readState(state);
  expect(state).toEqual(new Float32Array(trained.length).fill(1));
  trained.takePlainSteps(new Set(['weight']));
  await trained.applyGradient(gradient, 1);
  await trained.readState(state);
  expect([state[0], state[FEATURES - 1], state[FEATURES]]).toEqual([
    0,
    0,
    Math.fround(1.9),
  ]);
  const weights = await weightsOf(trained);
  expect(weights[0]).toBeCloseTo(-0.37 - 0.37, 6);
  expect(weights[FEATURES]).toBeCloseTo(-0.37 - 0.37 * 1.9, 6);
});

test('a table’s decay keeps its momentum when a method takes over the gradient’s', async () => {
  const optimizer = { ...plain, momentum: 0.9, weightDecay: 0.25 };
  const trained = await trainer({ optimizer });
  trained.takePlainSteps(new Set(['weight']));
  await trained.writeWeights(new Float32Array(trained.length).fill(2));
  let [weight, velocity] = [2, 0];
  for (let iteration = 0; iteration < 6; iteration++) {
    const gradient = new Float32Array(trained.length).fill(0.1 * iteration);
    velocity = 0.9 * velocity + 0.25 * weight;
    weight -= 0.37 * (gradient[0]! + velocity);
    await trained.applyGradient(gradient, iteration);
  }
  expect((await weightsOf(trained))[0]).toBeCloseTo(weight, 5);
});

test('evaluation counts every test sample of the rank once', async () => {
  const trained = await trainer();
  const shard = await sparse.open({
    ...{ inputs: {}, features: FEATURES, rank: 0, world: run.world },
  });
  const weights = Float32Array.from({ length: trained.length }, (_, i) => Math.sin(i));
  await trained.writeWeights(weights);
  const [samples, loss, hits] = await trained.evaluate();
  const expected = linearStep('logistic', weights, samplesOf(shard, shard.test));
  expect(samples).toBe(500);
  expect(loss / samples).toBeCloseTo(expected.loss, 3);
  expect(hits).toBe(expected.hits);
});
