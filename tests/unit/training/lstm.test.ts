import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lstmLanguageModel } from '../../../src/agent/training/models/lstm.ts';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import { lstmSmall } from '../../../src/agent/training/models/lstm-small.ts';
import {
  parameterCount,
  tensorLength,
} from '../../../src/agent/training/models/model.ts';
import {
  openJaxRuntime,
  type JaxArray,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import { lstmLosses, type LstmSizes } from './lstm-reference.ts';

const sizes: LstmSizes = {
  vocabulary: 7,
  embedding: 3,
  hidden: 4,
  layers: 2,
  steps: 5,
};
const names = { id: 'tiny', title: 'Tiny', summary: '' };
const model = lstmLanguageModel({ ...names, ...sizes });
const rows = 3;
const tokens = Int32Array.from(
  { length: rows * (sizes.steps + 1) },
  (_, i) => (i * i + 3 * i) % sizes.vocabulary,
);
const windows = Array.from({ length: rows }, (_, row) =>
  tokens.subarray(row * (sizes.steps + 1), (row + 1) * (sizes.steps + 1)),
);

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

/** Larger than a run begins with, so that gates are far from their middle. */
const weights = initialWeights(model, 5).map((value, i) => 3 * value + 0.01 * (i % 5));

function upload(flat: Float32Array): JaxArray[] {
  let start = 0;
  return model.tensors.map((tensor) => {
    const length = tensorLength(tensor);
    const values = flat.slice(start, start + length);
    start += length;
    return runtime.jax.numpy.array(values, { shape: [...tensor.shape] });
  });
}

const batch = (): { tokens: JaxArray } => ({
  tokens: runtime.jax.numpy.array(tokens, { shape: [rows, sizes.steps + 1] }),
});

test('the small one has 124,160 parameters, and the shape of LSTM-PTB 66,034,000', () => {
  expect(parameterCount(lstmSmall)).toBe(124_160);
  const ptb = {
    vocabulary: 10_000,
    embedding: 1500,
    hidden: 1500,
    layers: 2,
    steps: 35,
  };
  expect(parameterCount(lstmLanguageModel({ ...names, ...ptb }))).toBe(66_034_000);
});

test('the loss of each window is the reference’s', async () => {
  const { losses, sums } = model.objective(runtime.jax, upload(weights), batch());
  expect(sums).toEqual([]);
  const expected = lstmLosses(weights, windows, sizes);
  const measured = [...(await losses.data())];
  expect(measured).toHaveLength(rows);
  for (const [row, loss] of measured.entries()) {
    expect(loss).toBeCloseTo(expected[row]!, 4);
  }
});

describe('the compiled gradient', () => {
  test('agrees with finite differences in every tensor', async () => {
    const { jax } = runtime;
    const total = (parameters: JaxArray[], inputs: { tokens: JaxArray }): JaxArray =>
      model.objective(jax, parameters, inputs).losses.sum();
    const gradients = jax.jit(jax.grad(total))(upload(weights), batch()) as JaxArray[];
    const measured = await Promise.all(gradients.map((gradient) => gradient.data()));
    const sum = (at: Float64Array): number =>
      lstmLosses(at, windows, sizes).reduce((a, b) => a + b);
    let start = 0;
    for (const [index, tensor] of model.tensors.entries()) {
      const length = tensorLength(tensor);
      for (let i = 0; i < length; i += Math.max(1, Math.floor(length / 7))) {
        const step = 1e-5;
        const [up, down] = [Float64Array.from(weights), Float64Array.from(weights)];
        up[start + i] = up[start + i]! + step;
        down[start + i] = down[start + i]! - step;
        const slope = (sum(up) - sum(down)) / (2 * step);
        expect(measured[index]![i], `${tensor.name}[${i}]`).toBeCloseTo(slope, 3);
      }
      start += length;
    }
  });
});
