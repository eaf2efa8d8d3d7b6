/** Evaluation of a model whose samples depend on one another in training: batch norms. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import type { Samples } from '../../../src/agent/training/datasets/dataset.ts';
import { JaxTrainer } from '../../../src/agent/training/jax-trainer.ts';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import { resnet } from '../../../src/agent/training/models/resnet.ts';
import { sgd } from '../../../src/agent/training/optimizers/sgd.ts';
import {
  openJaxRuntime,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { trainerOptions } from './train-together.ts';
import { resnetLosses, type Batch, type Moments } from './image-reference.ts';

const shape = { blocks: 1, channels: [2, 3], width: 4, classes: 3 };
const model = resnet({ id: 'tiny', title: 'Tiny', summary: '', ...shape });
const PIXELS = 4 * 4 * 3;
const BATCH = 64;

type Part = ReturnType<typeof part>;

/** Images of one part, all different; `phase` tells parts apart. */
function part(count: number, phase: number) {
  const pixels = Float32Array.from(
    { length: count * PIXELS },
    (_, i) => Math.sin(0.7 * i + phase) + 0.3 * Math.cos(0.011 * i * phase),
  );
  const labels = Int32Array.from({ length: count }, (_, i) => (i * i + 1) % 3);
  const samples: Samples = {
    count,
    read(rows, { inputs, labels: classes }) {
      for (const [row, sample] of rows.entries()) {
        const image = pixels.subarray(sample * PIXELS, (sample + 1) * PIXELS);
        inputs!.set(image, row * PIXELS);
        classes![row] = labels[sample]!;
      }
    },
  };
  const imagesOf = (rows: Iterable<number>): Batch =>
    [...rows].map((sample) => {
      let at = sample * PIXELS;
      return Array.from({ length: 4 }, () =>
        Array.from({ length: 4 }, () => [pixels[at++]!, pixels[at++]!, pixels[at++]!]),
      );
    });
  return { samples, imagesOf, labels };
}

// Batches go through them unevenly; the test part fills no whole number of blocks.
const many = part(1100, 1);
const few = part(90, 1);
const tests = part(13, 2);

let runtime: JaxRuntime;
let opened: Trainer[] = [];
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  for (const trainer of opened) trainer.close();
  opened = [];
  runtime.release();
});

const run = { dataset: 'none', world: 1, batchPerRank: BATCH, lr: 0.1, iterations: 9 };

function trainer(evaluationBlock?: number, train = many): Trainer {
  const created = new JaxTrainer({
    // Released once, at the end.
    runtime: { ...runtime, release: () => undefined },
    model,
    optimizer: sgd,
    shard: { train: train.samples, test: tests.samples },
    options: trainerOptions(run, 0),
    evaluationBlock,
  });
  opened.push(created);
  return created;
}

/** The moments that an evaluation should use, of these weights, over the first batches. */
function preciseMoments(weights: Float32Array, train: Part, batches: number): Moments {
  const { count } = train.samples;
  const sampler = new BatchSampler({ count, batch: BATCH, seed: 1, rank: 0 });
  const rows = new Uint32Array(BATCH);
  const sums: Moments = [];
  for (let iteration = 0; iteration < batches; iteration++) {
    sampler.fill(iteration, rows);
    const noted: Moments = [];
    const labels = [...rows].map((row) => train.labels[row]!);
    resnetLosses(weights, train.imagesOf(rows), labels, shape, { noted });
    for (const [i, moments] of noted.entries()) {
      // Of the squares, not around the batch's own mean.
      const about = moments.map((value, c) =>
        i % 2 === 0 ? value : value + noted[i - 1]![c]! ** 2,
      );
      sums[i] = about.map((value, c) => (sums[i]?.[c] ?? 0) + value / batches);
    }
  }
  return sums.map((moments, i) =>
    moments.map((value, c) => (i % 2 === 0 ? value : value - sums[i - 1]![c]! ** 2)),
  );
}

/** The loss that an evaluation should have; by default with the statistics of 1,024 samples. */
const expectedLoss = (weights: Float32Array, train = many, batches = 16): number => {
  const given = preciseMoments(weights, train, batches);
  const images = tests.imagesOf(Array.from({ length: 13 }, (_, i) => i));
  return resnetLosses(weights, images, tests.labels, shape, {
    given,
    noted: [],
  }).reduce((a, b) => a + b);
};

describe('an evaluation', () => {
  test('normalises by the mean moments of the rank’s first training batches', async () => {
    const [samples, loss] = await trainer().evaluate();
    expect(samples).toBe(13);
    expect(loss).toBeCloseTo(expectedLoss(initialWeights(model, 1)), 3);
  });

  test('looks once at the training samples, if they are fewer', async () => {
    const weights = initialWeights(model, 1);
    const [, loss] = await trainer(undefined, few).evaluate();
    expect(loss).toBeCloseTo(expectedLoss(weights, few, 2), 3);
    // Or the test could not tell.
    expect(Math.abs(loss - expectedLoss(weights, few))).toBeGreaterThan(0.002);
  });

  test.each([1, 5, 13, 40])('in blocks of %i samples is the same', async (block) => {
    const [whole, measured] = [trainer(), trainer(block)];
    const [, loss, right] = await whole.evaluate();
    const [samples, sameLoss, sameRight] = await measured.evaluate();
    expect(samples).toBe(13);
    expect(sameLoss).toBeCloseTo(loss, 4);
    expect(sameRight).toBe(right);
  });

  test('is of the current weights alone, whatever was trained before', async () => {
    const trained = trainer();
    const gradient = new Float32Array(trained.length);
    for (let iteration = 0; iteration < 3; iteration++) {
      trained.loadBatch(iteration);
      await trained.computeGradient(gradient);
      await trained.applyGradient(gradient, iteration);
      await trained.evaluate();
    }
    const weights = new Float32Array(trained.length);
    await trained.readWeights(weights);
    const resumed = trainer();
    await resumed.writeWeights(weights);
    const sums = await trained.evaluate();
    expect(await resumed.evaluate()).toEqual(sums);
    expect(sums[1]).toBeCloseTo(expectedLoss(weights), 3);
    // Or the test could not tell weights apart.
    expect(Math.abs(sums[1] - expectedLoss(initialWeights(model, 1)))).toBeGreaterThan(
      0.1,
    );
  });

  test('leaves what is trained next untouched', async () => {
    const after = async (evaluated: boolean): Promise<Float32Array> => {
      const one = trainer();
      const gradient = new Float32Array(one.length);
      for (let iteration = 0; iteration < 2; iteration++) {
        one.loadBatch(iteration);
        if (evaluated) await one.evaluate();
        await one.computeGradient(gradient);
        await one.applyGradient(gradient, iteration);
      }
      await one.readWeights(gradient);
      return gradient;
    };
    expect(await after(true)).toEqual(await after(false));
  });
});
