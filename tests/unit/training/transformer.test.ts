import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import type {
  LayerCall,
  ModelLayer,
} from '../../../src/agent/training/models/layered.ts';
import {
  parameterCount,
  tensorLength,
  type Model,
} from '../../../src/agent/training/models/model.ts';
import { transformerIwslt } from '../../../src/agent/training/models/transformer-iwslt.ts';
import { transformerLanguageModel } from '../../../src/agent/training/models/transformer-language-model.ts';
import { transformerSeq2seq } from '../../../src/agent/training/models/transformer-seq2seq.ts';
import { transformerSmall } from '../../../src/agent/training/models/transformer-small.ts';
import { transformerTranslator } from '../../../src/agent/training/models/transformer-translator.ts';
import {
  openJaxRuntime,
  type JaxArray,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import { languageModelLoss, translatorScore } from './transformer-reference.ts';

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

const names = { id: 'tiny', title: 'Tiny', summary: '' };
const small = { width: 6, heads: 2, inner: 5 };
const padded = 0;

test.each(['before', 'after'] as const)(
  'a layer in two parts computes what the whole layer does, with norms %s',
  async (norm) => {
    const model = transformerLanguageModel({
      ...names,
      ...small,
      norm,
      vocabulary: 7,
      layers: 1,
      steps: 3,
    });
    const layer = model.layers[1]!;
    const [first, second] = layer.parts!;
    expect([first.name, second.name]).toEqual(['layer1.units', 'layer1']);
    expect([...first.tensors, ...second.tensors].toSorted()).toEqual(
      layer.tensors.toSorted(),
    );
    expect(first.output).toEqual({ rows: 3, width: 5 + 6, skip: 6 });
    const { jax } = runtime;
    const samples = 2;
    const all = upload(model, weightsOf(model));
    const byName = new Map(model.tensors.map(({ name }, i) => [name, all[i]!]));
    const call = ({ tensors }: ModelLayer): LayerCall => ({
      jax,
      samples,
      parameters: tensors.map((name) => byName.get(name)!.ref),
      fields: {},
    });
    const given = Float32Array.from({ length: 36 }, (_, i) => ((i * 17) % 11) / 5 - 1);
    const values = () => jax.numpy.array(given, { shape: [6, 6] });
    const whole = await layer.apply(call(layer), values()).data();
    const units = first.apply(call(first), values());
    expect(units.shape).toEqual([6, 11]);
    const parts = await second.apply(call(second), units).data();
    expect(parts).toHaveLength(whole.length);
    for (const [i, value] of whole.entries()) expect(parts[i]).toBeCloseTo(value, 5);
    for (const array of all) array.dispose();
  },
);

test('the parameters are counted', () => {
  // Embedding 32,768, two layers of 198,272, the last norm 256.
  expect(parameterCount(transformerSmall)).toBe(429_568);
  expect(parameterCount(transformerSeq2seq)).toBe(169_728);
  // Embeddings (8848 + 6632) · 512, layers 6 · (2,102,784 + 3,154,432).
  expect(parameterCount(transformerIwslt)).toBe(39_469_056);
});

/** Far from what a run begins with, so that no bias is 0 and no scale 1. */
const weightsOf = (model: Model): Float32Array =>
  initialWeights(model, 5).map((value, i) => 1.5 * value + 0.03 * (i % 7) - 0.08);

function upload(model: Model, flat: Float32Array): JaxArray[] {
  let start = 0;
  return model.tensors.map((tensor) => {
    const length = tensorLength(tensor);
    const values = flat.slice(start, start + length);
    start += length;
    return runtime.jax.numpy.array(values, { shape: [...tensor.shape] });
  });
}

const tokensOf = (rows: readonly (readonly number[])[]): JaxArray =>
  runtime.jax.numpy.array(Int32Array.from(rows.flat()), {
    shape: [rows.length, rows[0]!.length],
  });

/** Slopes by finite differences of `lossOf`, at about seven places of each tensor. */
async function expectGradient(
  model: Model,
  batch: () => Record<string, JaxArray>,
  lossOf: (weights: Float64Array) => number,
): Promise<void> {
  const { jax } = runtime;
  const flat = weightsOf(model);
  const total = (
    parameters: JaxArray[],
    inputs: Record<string, JaxArray>,
  ): JaxArray => {
    const { losses, sums } = model.objective(jax, parameters, inputs);
    for (const each of sums) each.dispose();
    return losses.sum();
  };
  const gradients = jax.jit(jax.grad(total))(
    upload(model, flat),
    batch(),
  ) as JaxArray[];
  const measured = await Promise.all(gradients.map((gradient) => gradient.data()));
  let start = 0;
  for (const [index, tensor] of model.tensors.entries()) {
    const length = tensorLength(tensor);
    for (let i = 0; i < length; i += Math.max(1, Math.floor(length / 7))) {
      const step = 1e-6;
      const at = (move: number): number => {
        const moved = Float64Array.from(flat);
        moved[start + i] = moved[start + i]! + move;
        return lossOf(moved);
      };
      const slope = (at(step) - at(-step)) / (2 * step);
      expect(measured[index]![i], `${tensor.name}[${i}]`).toBeCloseTo(slope, 3);
    }
    start += length;
  }
}

describe.each(['before', 'after'] as const)('a language model, norm %s', (norm) => {
  const sizes = { ...small, norm, layers: 2, vocabulary: 7 };
  const model = transformerLanguageModel({ ...names, ...sizes, steps: 5 });
  const windows = [
    [3, 1, 4, 1, 5, 2],
    [6, 0, 6, 0, 2, 6],
  ];

  test('has the losses of the reference', async () => {
    const weights = weightsOf(model);
    const { losses, sums } = model.objective(runtime.jax, upload(model, weights), {
      tokens: tokensOf(windows),
    });
    expect(sums).toEqual([]);
    const measured = [...(await losses.data())];
    for (const [row, window] of windows.entries()) {
      expect(measured[row]).toBeCloseTo(languageModelLoss(weights, window, sizes), 4);
    }
  });

  test('has the gradient of finite differences in every tensor', async () => {
    await expectGradient(
      model,
      () => ({ tokens: tokensOf(windows) }),
      (weights) =>
        windows.reduce((all, one) => all + languageModelLoss(weights, one, sizes), 0),
    );
  });
});

describe.each(['before', 'after'] as const)('a translator, norm %s', (norm) => {
  const vocabularies = { sourceVocabulary: 6, targetVocabulary: 5 };
  const sizes = { ...small, norm, layers: 1, ...vocabularies };
  const model = transformerTranslator({ ...names, ...sizes });
  const pairs = [
    { source: [2, 5, 3, 4], target: [1, 4, 2, 3, 1] },
    { source: [4, 2], target: [1, 3, 1] },
  ];
  const filled = (rows: readonly (readonly number[])[], length: number): JaxArray =>
    tokensOf(rows.map((row) => Array.from({ length }, (_, i) => row[i] ?? padded)));
  const batch = (): Record<string, JaxArray> => ({
    source: filled(
      pairs.map(({ source }) => source),
      4,
    ),
    target: filled(
      pairs.map(({ target }) => target),
      6,
    ),
  });

  test('scores as the reference does, which has no padding', async () => {
    const weights = weightsOf(model);
    const { losses, sums } = model.objective(
      runtime.jax,
      upload(model, weights),
      batch(),
    );
    const [right, counted] = await Promise.all(sums.map((each) => each.data()));
    const measured = await losses.data();
    const expected = pairs.map((pair) => translatorScore(weights, pair, sizes));
    expect([...counted!]).toEqual([4, 2]);
    expect([...right!]).toEqual(expected.map((one) => one.right));
    for (const [row, { loss }] of expected.entries()) {
      expect(measured[row]).toBeCloseTo(loss, 4);
    }
    const all = [...right!].reduce((a, b) => a + b);
    const totals = { loss: 0, predictions: 2, sums: [all, 6] };
    expect(model.metric.value(totals)).toBeCloseTo(all / 6);
  });

  test('has the gradient of finite differences in every tensor', async () => {
    await expectGradient(model, batch, (weights) =>
      pairs.reduce((all, pair) => all + translatorScore(weights, pair, sizes).loss, 0),
    );
  });
});
