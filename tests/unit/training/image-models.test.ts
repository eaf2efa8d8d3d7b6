import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convolve } from '../../../src/agent/training/models/convolution.ts';
import { initialWeights } from '../../../src/agent/training/models/initial-weights.ts';
import {
  parameterCount,
  tensorLength,
  type Model,
} from '../../../src/agent/training/models/model.ts';
import {
  resnet,
  resnet110,
  resnet18,
  resnet20,
} from '../../../src/agent/training/models/resnet.ts';
import { vgg, vgg16 } from '../../../src/agent/training/models/vgg.ts';
import {
  openJaxRuntime,
  type JaxArray,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import {
  referenceConvolution,
  resnetLosses,
  vggLosses,
  type Batch,
  type Moments,
  type Norms,
} from './image-reference.ts';

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

const names = { id: 'tiny', title: 'Tiny', summary: '' };
const rows = 3;

// An odd width, so that stages begin with 5, 3 and 2 rows.
const residual = { blocks: 2, channels: [2, 3, 5], width: 5, classes: 4 };
// As ResNet-18 has it.
const fourStages = { blocks: 1, channels: [2, 3, 4, 6], width: 5, classes: 3 };
const plain = { groups: [[2, 3], [4]], width: 4, classes: 3 };

interface Case {
  readonly model: Model;
  readonly width: number;
  readonly classes: number;
  losses(flat: ArrayLike<number>, batch: Batch, norms?: Norms): number[];
}

const labels = Int32Array.of(2, 0, 1);
const cases: readonly (readonly [string, Case])[] = [
  [
    'ResNet',
    {
      model: resnet({ ...names, ...residual }),
      ...residual,
      losses: (flat, batch, norms) =>
        resnetLosses(flat, batch, labels, residual, norms),
    },
  ],
  [
    'ResNet of four stages',
    {
      model: resnet({ ...names, ...fourStages }),
      ...fourStages,
      losses: (flat, batch, norms) =>
        resnetLosses(flat, batch, labels, fourStages, norms),
    },
  ],
  [
    'VGG',
    {
      model: vgg({ ...names, ...plain }),
      ...plain,
      losses: (flat, batch, norms) => vggLosses(flat, batch, labels, plain, norms),
    },
  ],
];

/** Numbers of both signs, different enough that no two maxima are equal. */
const wave = (length: number, phase = 0): Float32Array<ArrayBuffer> =>
  Float32Array.from({ length }, (_, i) => Math.sin(1.7 * i + 0.013 * i * i + phase));

/** Flat values [rows, width, width, channels] as images. */
function imagesOf(flat: ArrayLike<number>, width: number, channels: number): Batch {
  let at = 0;
  const count = flat.length / (width * width * channels);
  const list = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);
  return list(count, () =>
    list(width, () => list(width, () => list(channels, () => flat[at++]!))),
  );
}

function upload(model: Model, flat: Float32Array): JaxArray[] {
  let start = 0;
  return model.tensors.map((tensor) => {
    const length = tensorLength(tensor);
    const values = flat.slice(start, start + length);
    start += length;
    return runtime.jax.numpy.array(values, { shape: [...tensor.shape] });
  });
}

/** Norms with scales that are not 1 and shifts that are not 0. */
const weightsOf = (model: Model): Float32Array<ArrayBuffer> =>
  initialWeights(model, 3).map((value, i) => value + 0.2 * Math.sin(i));

const pixelsOf = ({ width }: Case): Float32Array<ArrayBuffer> =>
  wave(rows * width * width * 3);

const batchOf = (of: Case) => ({
  inputs: runtime.jax.numpy.array(pixelsOf(of), {
    shape: [rows, of.width, of.width, 3],
  }),
  labels: runtime.jax.numpy.array(labels, { shape: [rows] }),
});

async function numbersOf(arrays: readonly JaxArray[]): Promise<number[][]> {
  return await Promise.all(arrays.map(async (array) => [...(await array.data())]));
}

function expectClose(
  measured: readonly number[],
  expected: readonly number[],
  digits = 4,
): void {
  expect(measured).toHaveLength(expected.length);
  for (const [i, value] of measured.entries()) {
    expect(value, `[${i}]`).toBeCloseTo(expected[i]!, digits);
  }
}

test('the models have the parameters of the papers', () => {
  // Of the usual 11,173,962 those of its three shortcuts and their norms are missing.
  const shortcuts = [64, 128, 256].map((from) => 2 * from * from + 4 * from);
  const missing = shortcuts.reduce((sum, count) => sum + count, 0);
  expect(parameterCount(resnet18)).toBe(11_173_962 - missing);
  expect(parameterCount(resnet20)).toBe(269_722);
  expect(parameterCount(resnet110)).toBe(1_727_962);
  expect(parameterCount(vgg16)).toBe(14_728_266);
});

test.each([
  [1, 4, 4],
  [1, 1, 3],
  [2, 4, 4],
  [2, 5, 5],
  [2, 3, 6],
  [3, 7, 7],
])('a convolution of stride %i of %i×%i pixels', async (stride, high, wide) => {
  const { numpy } = runtime.jax;
  const [inputs, outputs] = [2, 3];
  const pixels = wave(2 * high * wide * inputs);
  const weights = wave(9 * inputs * outputs, 1);
  const result = convolve(
    runtime.jax,
    numpy.array(pixels, { shape: [2, high, wide, inputs] }),
    numpy.array(weights, { shape: [9 * inputs, outputs] }),
    stride,
  );
  const { shape } = result;
  let at = 0;
  const images = Array.from({ length: 2 }, () =>
    Array.from({ length: high }, () =>
      Array.from({ length: wide }, () => [pixels[at++]!, pixels[at++]!]),
    ),
  );
  const expected = images.map((image) =>
    referenceConvolution(image, [...weights], outputs, stride),
  );
  expect(shape).toEqual([2, expected[0]!.length, expected[0]![0]!.length, outputs]);
  expectClose([...(await result.data())], expected.flat(3), 5);
});

describe.each(cases)('%s', (_, of) => {
  const { model, width } = of;
  const weights = weightsOf(model);
  const images = imagesOf(pixelsOf(of), width, 3);

  test('has the losses and the statistics of the reference', async () => {
    const given = model.objective(runtime.jax, upload(model, weights), batchOf(of));
    const noted: Moments = [];
    const expected = of.losses(weights, images, { noted });
    expectClose([...(await given.losses.data())], expected);
    expect(given.statistics!.map(({ shape }) => shape)).toEqual(
      model.statistics!.map(({ shape }) => shape),
    );
    const measured = await numbersOf(given.statistics!);
    for (const [i, moments] of measured.entries()) expectClose(moments, noted[i]!);
    await numbersOf(given.sums);
  });

  test('is evaluated with given statistics, each sample alone', async () => {
    const moments = model.statistics!.map(({ shape }, i) =>
      Array.from({ length: shape[0]! }, (__, c) =>
        i % 2 === 0 ? 0.1 * c - 0.05 * i : 1.2 + 0.3 * c + 0.01 * i,
      ),
    );
    const statistics = moments.map((values) =>
      runtime.jax.numpy.array(Float32Array.from(values), { shape: [values.length] }),
    );
    const given = model.objective(
      runtime.jax,
      upload(model, weights),
      batchOf(of),
      statistics,
    );
    const measured = [...(await given.losses.data())];
    const norms = { given: moments, noted: [] };
    expectClose(measured, of.losses(weights, images, norms));
    expect(given.statistics ?? []).toEqual([]);
    await numbersOf(given.sums);
  });

  test('has gradients that agree with finite differences in every tensor', async () => {
    const { jax } = runtime;
    const total = (
      parameters: JaxArray[],
      batch: Record<string, JaxArray>,
    ): JaxArray => {
      const { losses, sums, statistics } = model.objective(jax, parameters, batch);
      for (const each of [...sums, ...statistics!]) each.dispose();
      return losses.sum();
    };
    const gradients = jax.jit(jax.grad(total as never) as never) as unknown as (
      parameters: JaxArray[],
      batch: Record<string, JaxArray>,
    ) => JaxArray[];
    const measured = await numbersOf(gradients(upload(model, weights), batchOf(of)));
    const sum = (at: Float64Array): number =>
      of.losses(at, images).reduce((a, b) => a + b);
    let start = 0;
    for (const [index, tensor] of model.tensors.entries()) {
      const length = tensorLength(tensor);
      for (let i = 0; i < length; i += Math.max(1, Math.floor(length / 5))) {
        const step = 1e-6;
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
