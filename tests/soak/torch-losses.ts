/**
 * Our models by PyTorch over 50 iterations, at their real sizes: losses are those of WebAssembly to
 * 1e-5. On a network with ReLU and many batch norms a step may make a difference of rounding
 * hundreds of times as large, also on one backend alone: such a model is followed step by step.
 */
import { describe, expect, test } from 'vitest';
import { openTrainer } from '../../src/agent/torch/open-trainer.ts';
import type { TrainerOptions } from '../../src/agent/training/trainer.ts';
import { pytorch } from '../harness/python.ts';

const ITERATIONS = 50;
const MOST = 1e-5;

type Optimizer = TrainerOptions['optimizer'];
const sgd = (lr: number, momentum = 0.9): Optimizer => ({
  kind: 'sgd',
  lr,
  momentum,
  schedule: 'constant',
});
const adam: Optimizer = { ...sgd(0.001, 0), kind: 'adam' };
const adagrad = (lr: number): Optimizer => ({ ...sgd(lr, 0), kind: 'adagrad' });

/** Data, samples of a batch, optimiser. */
type Case = readonly [dataset: string, batchPerRank: number, optimizer: Optimizer];

/** Each backend goes its own way. */
export const alone: Readonly<Record<string, Case>> = {
  fnn3: ['digits', 16, sgd(0.05)],
  'lstm-small': ['sentences', 4, sgd(0.5)],
  'lstm-ptb': ['sentences', 1, sgd(0.5, 0)],
  'logistic-regression': ['sparse', 16, sgd(0.1)],
  'linear-svm': ['sparse', 16, sgd(0.1)],
  'transformer-small': ['sentences', 2, sgd(0.05)],
  'transformer-seq2seq': ['reversal', 8, sgd(0.02)],
  'dlrm-small': ['clicks', 16, adagrad(0.05)],
};

/** Both step with the gradient of WebAssembly. */
export const inStep: Readonly<Record<string, Case>> = {
  dlrm: ['clicks', 8, adagrad(0.02)],
  'transformer-iwslt': ['reversal', 2, adam],
  'resnet-18': ['shapes', 4, sgd(0.02)],
  'resnet-20': ['shapes', 8, sgd(0.05)],
  'resnet-110': ['shapes', 4, sgd(0.02)],
  'vgg-16': ['shapes', 4, sgd(0.02)],
};

/** The largest difference of the two's losses, as a part of the loss. */
async function difference(
  model: string,
  [dataset, batchPerRank, optimizer]: Case,
  isInStep: boolean,
): Promise<number> {
  const options = {
    model,
    dataset,
    batchPerRank,
    optimizer,
    rank: 0,
    world: 1,
    seed: 1,
    threads: 1,
    iterations: ITERATIONS,
  };
  const torch = await openTrainer({ ...options, backend: 'torch', python: pytorch });
  const wasm = await openTrainer({ ...options, backend: 'wasm' });
  try {
    const ours = new Float32Array(torch.length);
    const expected = new Float32Array(wasm.length);
    let most = 0;
    for (let iteration = 0; iteration < ITERATIONS; iteration++) {
      for (const each of [torch, wasm]) each.loadBatch(iteration);
      const { loss } = await torch.computeGradient(ours);
      const reference = await wasm.computeGradient(expected);
      most = Math.max(most, Math.abs(loss! / reference.loss! - 1));
      await torch.applyGradient(isInStep ? expected : ours, iteration);
      await wasm.applyGradient(expected, iteration);
    }
    return most;
  } finally {
    for (const each of [torch, wasm]) each.close();
  }
}

/** Registers the tests of some models; those of one file share the 4 GiB of a process's WebAssembly. */
export function lossesOf(...names: readonly string[]): void {
  describe.skipIf(pytorch === undefined)('losses by PyTorch over 50 iterations', () => {
    test.each(names)('%s', async (name) => {
      const isInStep = Object.hasOwn(inStep, name);
      const settings = (isInStep ? inStep : alone)[name]!;
      expect(await difference(name, settings, isInStep)).toBeLessThanOrEqual(MOST);
    });
  });
}

/** The models of all files. */
export const FILES: Readonly<Record<string, readonly string[]>> = {
  small: [
    ...['fnn3', 'lstm-small', 'logistic-regression', 'linear-svm'],
    ...['transformer-small', 'transformer-seq2seq', 'dlrm-small'],
  ],
  'lstm-ptb': ['lstm-ptb'],
  large: ['dlrm', 'transformer-iwslt'],
  residual: ['resnet-18', 'resnet-20'],
  'resnet-110': ['resnet-110'],
  'vgg-16': ['vgg-16'],
};

/** Followed alone at a rate at which differences do not grow. */
export async function residualAlone(): Promise<number> {
  return await difference('resnet-20', ['shapes', 16, sgd(1e-5)], false);
}

export { MOST };
