import { afterEach, describe, expect, test, vi } from 'vitest';
import { BatchSampler } from '../../../src/agent/training/batches/batch-sampler.ts';
import { digits } from '../../../src/agent/training/datasets/digits.ts';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { fnn3 } from '../../../src/agent/training/models/fnn3.ts';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';
import { liveMemory } from '../../harness/live-memory.ts';
import { referenceLogits, referenceLoss } from './fnn3-reference.ts';
import { stepTogether, trainerOptions } from './train-together.ts';

const run = { dataset: 'digits', world: 4, batchPerRank: 8, lr: 0.05, iterations: 100 };

/** jax-js keeps arrays in one WebAssembly memory, which grows when there is no room. */
const memory = { pages: 0 };
const grow = Reflect.get(WebAssembly.Memory.prototype, 'grow');
vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(function (
  this: WebAssembly.Memory,
  pages,
) {
  memory.pages += pages;
  return Reflect.apply(grow, this, [pages]);
});

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

async function trainer(
  rank = 0,
  changes: Partial<TrainerOptions> = {},
): Promise<Trainer> {
  const created = await createTrainer({ ...trainerOptions(run, rank), ...changes });
  open.push(created);
  return created;
}

async function weightsOf(from: Trainer): Promise<Float32Array> {
  const weights = new Float32Array(from.length);
  await from.readWeights(weights);
  return weights;
}

/** Deterministic numbers of both signs around 0.01, never all equal. */
const ramp = (length: number, scale: number) =>
  Float32Array.from({ length }, (_, i) => scale * (((i * 37) % 101) - 50));

test('FNN-3 has 199,210 parameters in six tensors without gaps', async () => {
  const { tensors, length, stateLength, backend } = await trainer();
  expect(backend).toBe('wasm');
  expect(length).toBe(199_210);
  expect(stateLength).toBe(199_210);
  expect(tensors.map(({ name, shape }) => [name, ...shape])).toEqual([
    ['layer1.weight', 784, 200],
    ['layer1.bias', 200],
    ['layer2.weight', 200, 200],
    ['layer2.bias', 200],
    ['layer3.weight', 200, 10],
    ['layer3.bias', 10],
  ]);
  let start = 0;
  for (const tensor of tensors) {
    expect(tensor.start).toBe(start);
    expect(tensor.length).toBe(tensor.shape.reduce((product, size) => product * size));
    start += tensor.length;
  }
  expect(start).toBe(length);
});

describe('first weights', () => {
  test('are the same on all ranks and differ between seeds', async () => {
    const [first, second] = [await trainer(0), await trainer(3)];
    const other = await trainer(0, { seed: 2 });
    expect(await weightsOf(second)).toEqual(await weightsOf(first));
    expect(await weightsOf(other)).not.toEqual(await weightsOf(first));
  });

  test('have deviation √(2 ⁄ fan-in), biases 0', () => {
    const weights = initialWeights(fnn3, 9);
    const layer1 = weights.subarray(0, 784 * 200);
    const squares = layer1.reduce((sum, value) => sum + value * value, 0);
    expect(Math.sqrt(squares / layer1.length)).toBeCloseTo(Math.sqrt(2 / 784), 3);
    const bias1 = weights.subarray(784 * 200, 784 * 200 + 200);
    expect(bias1.every((value) => value === 0)).toBe(true);
  });
});

describe('loss and gradient', () => {
  test('the loss is the reference’s on the same batch', async () => {
    const subject = await trainer(1);
    const { train } = await digits.open({ rank: 1, world: 4 });
    const sampler = new BatchSampler({
      count: train.count,
      batch: 8,
      seed: 1,
      rank: 1,
    });
    const rows = new Uint32Array(8);
    const weights = await weightsOf(subject);
    for (const iteration of [0, 7]) {
      sampler.fill(iteration, rows);
      const inputs = [...rows].map((row) =>
        Array.from(train.values.subarray(784 * row, 784 * (row + 1)), (v) => v / 255),
      );
      const labels = [...rows].map((row) => train.labels[row]!);
      const logits = referenceLogits(weights, inputs);
      const losses = logits.map((scores, row) => referenceLoss(scores, labels[row]!));
      const right = logits.filter(
        (scores, row) => scores.indexOf(Math.max(...scores)) === labels[row],
      );
      subject.loadBatch(iteration);
      const result = await subject.computeGradient(new Float32Array(subject.length));
      expect(result.loss).toBeCloseTo(losses.reduce((a, b) => a + b) / 8, 5);
      expect(result.metric).toBe(right.length / 8);
    }
  });

  test('the gradient agrees with finite differences in every tensor', async () => {
    const subject = await trainer();
    // A few steps away from the start, where no bias is 0.
    await subject.applyGradient(ramp(subject.length, 0.001), 0);
    const weights = await weightsOf(subject);
    const { train } = await digits.open({ rank: 0, world: 4 });
    const rows = new Uint32Array(8);
    new BatchSampler({ count: train.count, batch: 8, seed: 1, rank: 0 }).fill(3, rows);
    const inputs = [...rows].map((row) =>
      Array.from(train.values.subarray(784 * row, 784 * (row + 1)), (v) => v / 255),
    );
    const meanLoss = (at: Float64Array): number =>
      referenceLogits(at, inputs).reduce(
        (sum, scores, row) =>
          sum + referenceLoss(scores, train.labels[rows[row]!]!) / 8,
        0,
      );

    subject.loadBatch(3);
    const gradient = new Float32Array(subject.length);
    await subject.computeGradient(gradient);
    for (const { name, start, length } of subject.tensors) {
      // The steepest coordinate and two others of each tensor.
      const part = gradient.subarray(start, start + length);
      const steepest = part.reduce(
        (best, value, i) => (Math.abs(value) > Math.abs(part[best]!) ? i : best),
        0,
      );
      for (const i of [steepest, length >> 1, length - 1]) {
        const step = 1e-5;
        const at = Float64Array.from(weights);
        at[start + i]! += step;
        const above = meanLoss(at);
        at[start + i]! -= 2 * step;
        const slope = (above - meanLoss(at)) / (2 * step);
        expect(Math.abs(part[i]! - slope), `${name}[${i}]`).toBeLessThan(
          1e-6 + 1e-3 * Math.abs(slope),
        );
      }
      expect(Math.abs(part[steepest]!)).toBeGreaterThan(0);
    }
  });

  test('a gradient can be a view on shared memory', async () => {
    const subject = await trainer();
    const shared = new Float32Array(new SharedArrayBuffer(4 * 200_000), 16, 199_210);
    const own = new Float32Array(subject.length);
    subject.loadBatch(0);
    await subject.computeGradient(own);
    await subject.computeGradient(shared);
    expect(Float32Array.from(shared)).toEqual(own);
    await subject.applyGradient(shared, 0);
    expect(await weightsOf(subject)).not.toEqual(initialWeights(fnn3, 1));
  });

  test('loadBatch decides the batch: the same again, another for another', async () => {
    const subject = await trainer();
    const losses: number[] = [];
    for (const iteration of [5, 6, 5]) {
      subject.loadBatch(iteration);
      losses.push(
        (await subject.computeGradient(new Float32Array(subject.length))).loss!,
      );
    }
    expect(losses[2]).toBe(losses[0]);
    expect(losses[1]).not.toBe(losses[0]);
  });
});

describe('applying gradients', () => {
  test('a gradient that has momentum, whole, beside a decay: SGD with momentum', async () => {
    const [momentum, weightDecay, lr] = [0.9, 0.5, 0.1];
    const optimizer = { kind: 'sgd', lr, momentum, weightDecay } as const;
    const subject = await trainer(0, {
      optimizer: { ...optimizer, schedule: 'constant' },
    });
    subject.takePlainSteps(new Set(subject.tensors.map(({ name }) => name)));
    const expected = Float64Array.from(await weightsOf(subject));
    const velocity = new Float64Array(subject.length);
    // As `dgc` sends it where it sends all and masks nothing.
    const sent = new Float64Array(subject.length);
    for (let iteration = 0; iteration < 12; iteration++) {
      const gradient = ramp(subject.length, 0.01 * (iteration + 1));
      for (const [i, value] of gradient.entries()) {
        sent[i] = momentum * sent[i]! + value;
        velocity[i] = momentum * velocity[i]! + value + weightDecay * expected[i]!;
        expected[i]! -= lr * velocity[i];
      }
      await subject.applyGradient(Float32Array.from(sent), iteration);
    }
    const weights = await weightsOf(subject);
    const worst = weights.reduce(
      (most, weight, i) => Math.max(most, Math.abs(weight - expected[i]!)),
      0,
    );
    expect(worst).toBeLessThan(1e-5);
  });

  test('tensors that took plain steps restart with momentum', async () => {
    const optimizer = {
      kind: 'sgd',
      lr: 0.1,
      momentum: 0.9,
      schedule: 'constant',
    } as const;
    const subject = await trainer(0, { optimizer });
    const expected = Float64Array.from(await weightsOf(subject));
    const velocity = new Float64Array(subject.length);
    const both = ['layer1.bias', 'layer3.weight'];
    const plans = [[], both, both, ['layer3.weight'], []];
    let before: readonly string[] = [];
    for (const [iteration, names] of plans.entries()) {
      subject.takePlainSteps(new Set(names));
      const gradient = ramp(subject.length, 0.01 * (iteration + 1));
      for (const { name, start, length } of subject.tensors) {
        const plain = names.includes(name);
        if (plain !== before.includes(name)) velocity.fill(0, start, start + length);
        for (let i = start; i < start + length; i++) {
          if (!plain) velocity[i] = 0.9 * velocity[i]! + gradient[i]!;
          expected[i]! -= 0.1 * (plain ? gradient[i]! : velocity[i]!);
        }
      }
      before = names;
      await subject.applyGradient(gradient, iteration);
      const weights = await weightsOf(subject);
      const worst = weights.reduce(
        (w, x, i) => Math.max(w, Math.abs(x - expected[i]!)),
        0,
      );
      expect(worst, `iteration ${iteration}`).toBeLessThan(1e-5);
      const state = new Float32Array(subject.stateLength);
      await subject.readState(state);
      const off = state.findIndex((v, i) => Math.abs(v - velocity[i]!) > 1e-4);
      expect(off, `velocity in iteration ${iteration}`).toBe(-1);
    }
  });

  test.each([0.9, 0])('is SGD with momentum %d', async (momentum) => {
    const optimizer = { kind: 'sgd', lr: 0.1, momentum, schedule: 'linear' } as const;
    const subject = await trainer(0, { optimizer, iterations: 4 });
    const expected = Float64Array.from(await weightsOf(subject));
    const velocity = new Float64Array(subject.length);
    for (let iteration = 0; iteration < 4; iteration++) {
      const gradient = ramp(subject.length, 0.01 * (iteration + 1));
      const rate = 0.1 * (1 - iteration / 4);
      expect(subject.learningRate(iteration)).toBeCloseTo(rate, 12);
      for (let i = 0; i < expected.length; i++) {
        velocity[i] = momentum * velocity[i]! + gradient[i]!;
        expected[i]! -= rate * velocity[i]!;
      }
      await subject.applyGradient(gradient, iteration);
    }
    const weights = await weightsOf(subject);
    let worst = 0;
    for (let i = 0; i < weights.length; i++) {
      worst = Math.max(worst, Math.abs(weights[i]! - expected[i]!));
    }
    expect(worst).toBeLessThan(1e-5);

    expect(subject.stateLength).toBe(momentum === 0 ? 0 : subject.length);
    const state = new Float32Array(subject.stateLength);
    await subject.readState(state);
    for (let i = 0; i < state.length; i += 997)
      expect(state[i]).toBeCloseTo(velocity[i]!, 4);
  });

  test('replicas on different ranks stay identical bit for bit', async () => {
    const replicas = [await trainer(0), await trainer(1), await trainer(2)];
    for (let iteration = 0; iteration < 10; iteration++) {
      await stepTogether(replicas, iteration);
    }
    const [first, ...others] = await Promise.all(replicas.map(weightsOf));
    for (const other of others) expect(other).toEqual(first);
  });

  test('the same run gives the same bits again', async () => {
    const runs: Float32Array[] = [];
    for (let repeat = 0; repeat < 2; repeat++) {
      const replicas = [await trainer(0), await trainer(1)];
      for (let iteration = 0; iteration < 5; iteration++) {
        await stepTogether(replicas, iteration);
      }
      runs.push(await weightsOf(replicas[0]!));
    }
    expect(runs[1]).toEqual(runs[0]);
  });
});

test.each([
  ['sgd', {}],
  ['adamw', { clipNorm: 0.5, warmupIterations: 3, schedule: 'cosine' as const }],
  ['lars', { trust: 0.1, weightDecay: 0.01 }],
])(
  'weights and state written back resume a run of %s bit for bit',
  async (kind, more) => {
    const optimizer = { lr: 0.05, momentum: 0.9, schedule: 'constant' as const };
    const changes = { optimizer: { kind, ...optimizer, ...more } };

    const original = await trainer(0, changes);
    await stepTogether([original], 0);
    await stepTogether([original], 1);
    const weights = await weightsOf(original);
    const state = new Float32Array(original.stateLength);
    await original.readState(state);

    const resumed = await trainer(0, changes);
    await resumed.writeWeights(weights);
    await resumed.writeState(state);
    for (const iteration of [2, 3]) {
      await stepTogether([original], iteration);
      await stepTogether([resumed], iteration);
    }
    expect(await weightsOf(resumed)).toEqual(await weightsOf(original));
    expect(await weightsOf(resumed)).not.toEqual(weights);
  },
);

describe('evaluation', () => {
  test('scores each sample of the share once, whatever its size', async () => {
    // 2,000 among 7: shares of 286 and 285, each a full block and a padded one.
    const subject = await trainer(6, { world: 7 });
    const result = await subject.evaluate();
    const [samples, summedLoss, hits] = result;
    const { test: share } = await digits.open({ rank: 6, world: 7 });
    expect(samples).toBe(share.count);
    expect(share.count).toBe(285);

    const weights = await weightsOf(subject);
    let lossSum = 0;
    let correct = 0;
    for (let row = 0; row < share.count; row++) {
      const input = Array.from(
        share.values.subarray(784 * row, 784 * (row + 1)),
        (value) => value / 255,
      );
      const [scores] = referenceLogits(weights, [input]);
      lossSum += referenceLoss(scores!, share.labels[row]!);
      if (scores!.indexOf(Math.max(...scores!)) === share.labels[row]) correct++;
    }
    expect(hits).toBe(correct);
    expect(summedLoss / share.count).toBeCloseTo(lossSum / share.count, 5);
    expect(subject.measuresOf(result)).toEqual({
      loss: summedLoss / share.count,
      metric: correct / share.count,
    });
  });

  test('does not disturb a loaded batch', async () => {
    const subject = await trainer();
    const gradient = new Float32Array(subject.length);
    subject.loadBatch(2);
    const before = await subject.computeGradient(gradient);
    await subject.evaluate();
    expect(await subject.computeGradient(gradient)).toEqual(before);
  });
});

test('memory does not grow with iterations', async () => {
  const subject = await trainer();
  const step = async (iteration: number) => {
    await stepTogether([subject], iteration);
    if (iteration % 20 === 0) await subject.evaluate();
  };
  for (let iteration = 0; iteration < 40; iteration++) await step(iteration);
  expect(memory.pages).toBeGreaterThan(0);
  const { pages } = memory;
  const before = await liveMemory();
  for (let iteration = 40; iteration < 120; iteration++) await step(iteration);
  expect(memory.pages).toBe(pages);
  // One leaked gradient per iteration would be 64 MB.
  expect(((await liveMemory()) - before) / 2 ** 20).toBeLessThan(8);
});

test('a vector of the wrong length is a programmer’s error', async () => {
  const subject = await trainer();
  subject.loadBatch(0);
  await expect(subject.computeGradient(new Float32Array(3))).rejects.toThrow(
    'internal:',
  );
});
