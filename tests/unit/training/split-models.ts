/** A model in stages against the same model whole, on WebAssembly. */
import { expect } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';
import { documented } from '../../harness/documented.ts';
import { joinedStages } from './joined-stages.ts';
import { clickLayers } from './own-models.ts';
import { trainerOptions } from './train-together.ts';

const SGD = { kind: 'sgd', lr: 0.1, momentum: 0.9, schedule: 'constant' } as const;
const BATCH = 8;

export interface SplitModel {
  readonly model: string;
  readonly modelSource?: string;
  readonly dataset: string;
  readonly splitAfter: readonly string[];
  readonly microBatches: number;
  readonly features?: number;
  readonly optimizer?: TrainerOptions['optimizer'];
}

const CLICKS = {
  model: 'dlrm-small',
  dataset: 'clicks',
  features: 250,
  optimizer: { ...SGD, kind: 'adagrad', momentum: 0 },
};
const BYTES = { model: 'transformer-small', dataset: 'sentences' };

/** Models from files. */
const own = (name: string, modelSource: string) => ({
  model: `./${name}.ts`,
  modelSource,
});
const THREE_LAYERS = own(
  'three-layer',
  documented('models.md', 'ts', '// three-layer'),
);
const NEXT_TOKEN = own('next-token', documented('models.md', 'ts', '// next-token'));
const OWN_CLICKS = { ...CLICKS, ...own('clicks', clickLayers) };

export const splitModels: readonly SplitModel[] = [
  { model: 'fnn3', dataset: 'digits', splitAfter: ['layer1'], microBatches: 1 },
  { model: 'fnn3', dataset: 'digits', splitAfter: ['layer2'], microBatches: 4 },
  {
    model: 'fnn3',
    dataset: 'digits',
    splitAfter: ['layer1', 'layer2'],
    microBatches: 8,
  },
  // The embedding is used by the first stage and by the last.
  { ...BYTES, splitAfter: ['layer1'], microBatches: 2 },
  { ...BYTES, splitAfter: ['embedding', 'layer1', 'layer2'], microBatches: 2 },
  // Inside layers: units of the feed-forward network, and what passes it.
  { ...BYTES, splitAfter: ['layer1.units', 'layer2.units'], microBatches: 2 },
  { ...BYTES, splitAfter: ['layer1.units', 'layer1'], microBatches: 2 },
  // Of the table, behind the split, a micro-batch uses a few rows.
  { ...CLICKS, splitAfter: ['bottom1'], microBatches: 4 },
  { ...CLICKS, splitAfter: ['bottom1', 'embedding'], microBatches: 2 },
  {
    ...THREE_LAYERS,
    dataset: 'digits',
    splitAfter: ['layer1', 'layer2'],
    microBatches: 4,
  },
  // The embeddings of the first stage are the output weights of the last.
  {
    ...NEXT_TOKEN,
    dataset: 'sentences',
    splitAfter: ['embedding', 'mixed'],
    microBatches: 2,
  },
  // The stage in the middle has a table, and nothing but its rows is taken of a batch.
  { ...OWN_CLICKS, splitAfter: ['bottom', 'table'], microBatches: 4 },
];

interface StageOpener {
  /** Opens the trainers of the stages; default: on WebAssembly. */
  readonly open?: typeof createTrainer;
  readonly options?: Partial<TrainerOptions>;
  /** Largest difference of an element of the gradient, as a share of the largest element. */
  readonly apart?: number;
}

/** Checks that stages have the whole model's gradients, losses and weights. */
export async function expectWhole(
  given: SplitModel,
  { apart: most = 2e-6, open, options: other }: StageOpener = {},
): Promise<void> {
  const { dataset, features, microBatches, optimizer = SGD, splitAfter } = given;
  const { model, modelSource } = given;
  const options: TrainerOptions = {
    ...trainerOptions(
      { dataset, world: 3, batchPerRank: BATCH, lr: 0.1, iterations: 9 },
      1,
    ),
    model,
    modelSource,
    optimizer,
    features,
  };

  const whole = await createTrainer(options);
  const ofStages = { ...options, ...other };
  const stages = await joinedStages(ofStages, splitAfter, microBatches, open);
  try {
    await compare(whole, stages, most);
  } finally {
    for (const trainer of [whole, ...stages]) trainer.close();
  }
}

async function compare(
  whole: Trainer,
  stages: readonly Trainer[],
  most: number,
): Promise<void> {
  expect(stages.map(({ parameters }) => parameters)).toEqual(
    stages.map(() => whole.length),
  );
  for (let iteration = 0; iteration < 3; iteration++) {
    const gradient = new Float32Array(whole.length);
    whole.loadBatch(iteration);
    const step = await whole.computeGradient(gradient);
    const expected = byTensor(whole, gradient);
    const parts = stages.map(({ length }) => new Float32Array(length).fill(NaN));
    for (const stage of stages) stage.loadBatch(iteration);
    const steps = await Promise.all(
      stages.map((stage, i) => stage.computeGradient(parts[i]!)),
    );
    const found = new Map(
      stages.flatMap((stage, i) => [...byTensor(stage, parts[i]!)]),
    );
    expect(new Set(found.keys())).toEqual(new Set(expected.keys()));
    const scale = gradient.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    for (const [name, values] of expected) {
      expect(apart(found.get(name)!, values) / scale, name).toBeLessThan(most);
    }
    for (const { loss, metric } of steps.slice(0, -1)) {
      expect([loss, metric]).toEqual([undefined, undefined]);
    }
    expect(steps.at(-1)!.loss).toBeCloseTo(step.loss!, 5);
    // The area under a curve has no meaning for clicks that are all alike.
    const [metric = 0, expectedMetric = 0] = [steps.at(-1)!.metric, step.metric];
    const bound = 1e-5 * Math.max(1, expectedMetric);
    expect(Math.abs(metric - expectedMetric)).toBeLessThan(bound);
    await whole.applyGradient(gradient, iteration);
    for (const [i, stage] of stages.entries()) {
      await stage.applyGradient(parts[i]!, iteration);
    }
  }
  const expected = byTensor(whole, await weightsOf(whole));
  for (const stage of stages) {
    for (const [name, values] of byTensor(stage, await weightsOf(stage))) {
      expect(apart(expected.get(name)!, values), name).toBeLessThan(1e-4);
    }
  }
  const sums = await whole.evaluate();
  const ofStages = await Promise.all(stages.map((stage) => stage.evaluate()));
  for (const others of ofStages.slice(0, -1)) {
    expect(others).toEqual(sums.map(() => 0));
  }
  const last = ofStages.at(-1)!;
  expect(last).toHaveLength(sums.length);
  expect(last[0]).toBe(sums[0]);
  const [mine, theirs] = [stages[0]!.measuresOf(last), whole.measuresOf(sums)];
  expect(mine.loss).toBeCloseTo(theirs.loss!, 3);
  expect(mine.metric! / theirs.metric!).toBeCloseTo(1, 2);
}

async function weightsOf(trainer: Trainer): Promise<Float32Array> {
  const weights = new Float32Array(trainer.length);
  await trainer.readWeights(weights);
  return weights;
}

const byTensor = ({ tensors }: Trainer, flat: Float32Array) =>
  new Map(
    tensors.map(({ name, start, length }) => [name, flat.slice(start, start + length)]),
  );

const apart = (a: Float32Array, b: Float32Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
