/**
 * Our models as PyTorch computes them: measures, gradients and evaluations are those of jax-js on
 * WebAssembly, from the same weights and the same samples.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TorchProcess } from '../../../src/agent/torch/torch-process.ts';
import { TorchTrainer } from '../../../src/agent/torch/torch-trainer.ts';
import type { BatchFields } from '../../../src/agent/training/batches/batch.ts';
import { settledFields } from '../../../src/agent/training/batches/batch.ts';
import type {
  RankShard,
  Samples,
} from '../../../src/agent/training/datasets/dataset.ts';
import { JaxTrainer } from '../../../src/agent/training/jax-trainer.ts';
import { isSized } from '../../../src/agent/training/model-facts.ts';
import { lstmLanguageModel } from '../../../src/agent/training/models/lstm.ts';
import type { Model } from '../../../src/agent/training/models/model.ts';
import { models } from '../../../src/agent/training/models/registry.ts';
import { resnet } from '../../../src/agent/training/models/resnet.ts';
import { transformerLanguageModel } from '../../../src/agent/training/models/transformer-language-model.ts';
import { transformerTranslator } from '../../../src/agent/training/models/transformer-translator.ts';
import { vgg } from '../../../src/agent/training/models/vgg.ts';
import { sgd } from '../../../src/agent/training/optimizers/sgd.ts';
import {
  openJaxRuntime,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';
import { RandomSequence } from '../../../src/agent/training/runtime/random-sequence.ts';
import type { Trainer } from '../../../src/agent/training/trainer.ts';
import { pytorch } from '../../harness/python.ts';

const BATCH = 6;
const LENGTHS = { features: 5, values: 5, source: 7, target: 6 };

const named = (id: string) => ({ id, title: id, summary: '' });
const images = { width: 4, classes: 5 };

/** The same models with fewer elements, where the real ones take long on WebAssembly. */
const smaller: Readonly<Record<string, Model>> = {
  'lstm-ptb': lstmLanguageModel({
    ...named('lstm-ptb'),
    vocabulary: 40,
    embedding: 12,
    hidden: 12,
    layers: 2,
    steps: 3,
  }),
  'resnet-18': resnet({
    ...named('resnet-18'),
    ...images,
    blocks: 1,
    channels: [2, 3],
  }),
  'resnet-20': resnet({
    ...named('resnet-20'),
    ...images,
    blocks: 2,
    channels: [3, 4],
  }),
  'resnet-110': resnet({
    ...named('resnet-110'),
    // Of an odd width a stage keeps the last row and column.
    ...images,
    width: 5,
    blocks: 1,
    channels: [3, 3],
  }),
  'vgg-16': vgg({ ...named('vgg-16'), ...images, groups: [[4], [5, 4]] }),
  'transformer-iwslt': transformerTranslator({
    ...named('transformer-iwslt'),
    sourceVocabulary: 20,
    targetVocabulary: 15,
    layers: 1,
    width: 16,
    heads: 4,
    inner: 24,
    norm: 'after',
  }),
  'transformer-seq2seq': transformerTranslator({
    ...named('transformer-seq2seq'),
    sourceVocabulary: 9,
    targetVocabulary: 8,
    layers: 1,
    width: 8,
    heads: 4,
    inner: 12,
    norm: 'before',
  }),
  'transformer-small': transformerLanguageModel({
    ...named('transformer-small'),
    vocabulary: 12,
    layers: 2,
    steps: 5,
    width: 8,
    heads: 4,
    inner: 12,
    norm: 'before',
  }),
  'lstm-small': lstmLanguageModel({
    ...named('lstm-small'),
    vocabulary: 30,
    embedding: 6,
    hidden: 10,
    layers: 1,
    steps: 2,
  }),
};

const cases = [...models.values()].map((model): [string, Model] => [
  model.id,
  smaller[model.id] ?? (isSized(model) ? model.ofFeatures(30) : model),
]);

/** Others have the same layers, once more or in another order. */
const quick = new Set([
  ...['fnn3', 'logistic-regression', 'linear-svm', 'lstm-small'],
  ...['transformer-seq2seq', 'resnet-18', 'vgg-16', 'dlrm-small'],
]);

/** Random samples; a sequence has padding at its end, and whole numbers come more than once. */
function samplesOf(fields: BatchFields, count: number, seed: number): Samples {
  const random = new RandomSequence({ seed });
  const drawn = Object.entries(fields).map(([name, { below = 2, shape, type }]) => {
    const length = shape.reduce((product, size) => product * size, 1);
    const rows = Array.from({ length: count }, (_, row) =>
      Array.from({ length }, (__, i) => {
        if (type === 'f32') return random.between(-1, 1);
        const isPadding = name === 'source' || name === 'target';
        if (isPadding && i > 0 && i >= length - (row % 4)) return 0;
        const least = isPadding ? 1 : 0;
        return least + random.below(below - least);
      }),
    );
    return [name, rows] as const;
  });
  return {
    count,
    read(rows, batch) {
      for (const [name, values] of drawn) {
        for (const [place, row] of rows.entries()) {
          batch[name]!.set(values[row]!, place * values[row]!.length);
        }
      }
    },
  };
}

const largest = (values: Float32Array): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

describe.skipIf(pytorch === undefined)('built-in models by PyTorch', () => {
  let computing: TorchProcess;
  let runtime: JaxRuntime;

  beforeAll(async () => {
    [computing, runtime] = await Promise.all([
      TorchProcess.start({
        python: pytorch!,
        rank: 0,
        threads: 1,
        rankOnMachine: { place: 0, ranks: 1, share: false },
      }),
      openJaxRuntime({ backend: 'wasm', threads: 1 }),
    ]);
  });
  afterAll(() => {
    computing.close();
  });

  /** Trainers of the model on the same shard. */
  async function both(model: Model): Promise<{ torch: Trainer; jax: Trainer }> {
    const fields = settledFields(model.inputs, LENGTHS);
    const shard: RankShard = {
      train: samplesOf(fields, 20, 3),
      test: samplesOf(fields, 7, 4),
      lengths: LENGTHS,
    };
    const options = {
      model: model.id,
      dataset: 'none',
      batchPerRank: BATCH,
      rank: 0,
      world: 1,
      seed: 5,
      threads: 1,
      optimizer: { kind: 'sgd', lr: 0.05, momentum: 0.9, schedule: 'constant' },
      iterations: 10,
    } as const;
    // Released once, at the end.
    const shared = { ...runtime, release: () => undefined };
    const parts = { runtime: shared, model, optimizer: sgd, shard };
    return {
      torch: await TorchTrainer.open({
        ...parts,
        options: { ...options, backend: 'torch' },
        process: computing,
      }),
      jax: new JaxTrainer({ ...parts, options: { ...options, backend: 'wasm' } }),
    };
  }

  /** Gradients of the two, tensor by tensor: rounding errors are of the largest element. */
  function expectEqual(
    trainer: Trainer,
    ours: Float32Array,
    expected: Float32Array,
  ): void {
    const scale = largest(expected);
    for (const { length, name, start } of trainer.tensors) {
      const [own, other] = [ours, expected].map((each) =>
        each.subarray(start, start + length),
      ) as [Float32Array, Float32Array];
      const most = largest(own.map((value, i) => value - other[i]!));
      // A bias before a norm has a gradient of rounding errors alone.
      const bound = 2e-5 * largest(other) + 2e-6 * scale;
      expect(most, name).toBeLessThanOrEqual(bound);
    }
  }

  for (const [id, model] of cases) {
    const options = quick.has(id) ? {} : { tags: 'soak' };
    test(`${id}: steps and evaluations`, options, () => stepsEqually(model));
  }

  async function stepsEqually(model: Model): Promise<void> {
    const { jax, torch } = await both(model);
    const [ours, expected] = [torch, jax].map(({ length }) => new Float32Array(length));
    const told: number[] = [];
    for (let iteration = 0; iteration < 2; iteration++) {
      for (const each of [torch, jax]) each.loadBatch(iteration);
      const isEarly = iteration % 2 === 1;
      const tell = (from: number): void => void told.push(from);
      const step = await torch.computeGradient(ours!, isEarly ? tell : undefined);
      const reference = await jax.computeGradient(expected!);
      expect(step.loss! / reference.loss!).toBeCloseTo(1, 5);
      const metric = reference.metric ?? 0;
      expect(Math.abs((step.metric ?? 0) - metric)).toBeLessThanOrEqual(1e-5 * metric);
      expectEqual(torch, ours!, expected!);
      for (const each of [torch, jax]) await each.applyGradient(expected!, iteration);
    }
    expect(told).toEqual(told.toSorted((a, b) => b - a));
    expect(told.at(-1)).toBe(0);
    const [sums, wanted] = [await torch.evaluate(), await jax.evaluate()];
    for (const [i, sum] of wanted.entries()) {
      expect(Math.abs(sums[i]! - sum)).toBeLessThanOrEqual(2e-5 * Math.abs(sum) + 1e-6);
    }
    // Another size of a batch is compiled anew on WebAssembly.
    if (model.statistics !== undefined) return;
    await torch.computeFullGradient(ours!);
    await jax.computeFullGradient(expected!);
    expectEqual(torch, ours!, expected!);
  }
});
