/**
 * Child process of trainer-webgpu.test.ts: trains a few steps of FNN-3 on one backend
 * and prints what came out as one line of JSON. argv: backend.
 */
import { createTrainer } from '../../src/agent/training/create-trainer.ts';
import type {
  EvaluationSums,
  TrainerOptions,
} from '../../src/agent/training/trainer.ts';

export interface TrainerSteps {
  readonly backend: string;
  readonly losses: readonly number[];
  readonly metrics: readonly number[];
  /** Per step the gradient, thinned out to every 97th element. */
  readonly gradients: readonly (readonly number[])[];
  /** Weights after the last step, thinned out alike. */
  readonly weights: readonly number[];
  readonly evaluation: EvaluationSums;
  /** By how much a step of rate 1 moved the first weights, under a gradient whose squares overflow. */
  readonly clipped: readonly number[];
}

const thin = (values: Float32Array) =>
  Array.from(values).filter((_, i) => i % 97 === 0);

const options: TrainerOptions = {
  model: 'fnn3',
  dataset: 'digits',
  batchPerRank: 32,
  rank: 0,
  world: 4,
  seed: 1,
  backend: process.argv[2] as TrainerOptions['backend'],
  threads: 1,
  optimizer: { kind: 'sgd', lr: 0.05, momentum: 0.9, schedule: 'cosine' },
  iterations: 10,
};
/** Clipped to a norm of 0.5, on the device; the other elements are 0. */
async function clipped(): Promise<readonly number[]> {
  const { kind, schedule } = options.optimizer;
  const clipping = await createTrainer({
    ...options,
    optimizer: { kind, schedule, lr: 1, momentum: 0, clipNorm: 0.5 },
  });
  const large = [3e38, -1e38, 2e30, 0, 7e37];
  const values = new Float32Array(clipping.length);
  values.set(large);
  const [before, after] = [values.slice(), values.slice()];
  await clipping.readWeights(before);
  await clipping.applyGradient(values, 0);
  await clipping.readWeights(after);
  clipping.close();
  return large.map((_, i) => before[i]! - after[i]!);
}

const trainer = await createTrainer(options);
// As the worker has it: a view on memory that the engine's thread shares.
const gradient = new Float32Array(new SharedArrayBuffer(4 * trainer.length));
const losses: number[] = [];
const metrics: number[] = [];
const gradients: number[][] = [];
for (let iteration = 0; iteration < 4; iteration++) {
  trainer.loadBatch(iteration);
  const step = await trainer.computeGradient(gradient);
  losses.push(step.loss!);
  metrics.push(step.metric!);
  gradients.push(thin(gradient));
  await trainer.applyGradient(gradient, iteration);
}
const weights = new Float32Array(trainer.length);
await trainer.readWeights(weights);
// Written back and read again, so that the upload of everything is tried too.
await trainer.writeWeights(weights);
await trainer.readWeights(weights);
const state = new Float32Array(trainer.stateLength);
await trainer.readState(state);
await trainer.writeState(state);
const result: TrainerSteps = {
  backend: trainer.backend,
  losses,
  metrics,
  gradients,
  weights: thin(weights),
  evaluation: await trainer.evaluate(),
  clipped: await clipped(),
};
trainer.close();
process.stdout.write(`${JSON.stringify(result)}\n`);
