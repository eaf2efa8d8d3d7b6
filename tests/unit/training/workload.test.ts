import { expect, test } from 'vitest';
import { checkWorkload } from '../../../src/agent/training/check-workload.ts';
import {
  describeDatasets,
  describeModels,
  describeOptimizers,
} from '../../../src/agent/training/workload-catalogue.ts';
import { openWorkload } from '../../../src/agent/training/open-workload.ts';
import { trainerOptions } from '../../../src/agent/worker/trainer-options.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { temporaryDirectory } from './idx-fixtures.ts';

type Configuration = Parameters<typeof trainerOptions>[0];

function check(workload: Record<string, unknown>, kind = 'sgd', ranks = 4) {
  const spec = parseExperimentSpec({
    workload: { model: 'fnn3', dataset: 'digits', ...workload },
    optimizer: { kind },
  });
  return checkWorkload(spec.workload, spec.optimizer, ranks);
}

test('the catalogue lists what there is', () => {
  expect(describeModels()).toEqual([
    expect.objectContaining({ id: 'fnn3', parameterCount: 199_210 }),
    expect.objectContaining({ id: 'lstm-small', parameterCount: 124_160 }),
    expect.objectContaining({ id: 'lstm-ptb', parameterCount: 66_034_000 }),
    expect.objectContaining({ id: 'logistic-regression' }),
    expect.objectContaining({ id: 'linear-svm' }),
    expect.objectContaining({ id: 'transformer-small', parameterCount: 429_568 }),
    expect.objectContaining({ id: 'transformer-seq2seq', parameterCount: 169_728 }),
    expect.objectContaining({ id: 'transformer-iwslt', parameterCount: 39_469_056 }),
    expect.objectContaining({ id: 'resnet-18', parameterCount: 11_000_138 }),
    expect.objectContaining({ id: 'resnet-20', parameterCount: 269_722 }),
    expect.objectContaining({ id: 'resnet-110', parameterCount: 1_727_962 }),
    expect.objectContaining({ id: 'vgg-16', parameterCount: 14_728_266 }),
    expect.objectContaining({ id: 'dlrm' }),
    expect.objectContaining({ id: 'dlrm-small' }),
    expect.objectContaining({ id: 'synthetic-gradient' }),
    expect.objectContaining({ id: 'program' }),
  ]);
  expect(describeDatasets().map(({ id, needsData }) => [id, needsData])).toEqual([
    ['digits', false],
    ['mnist', true],
    ['shapes', false],
    ['cifar-10', true],
    ['sentences', false],
    ['text', true],
    ['text-characters', true],
    ['text-words', true],
    ['reversal', false],
    ['sparse', false],
    ['svmlight', true],
    ['trigrams', true],
    ['clicks', false],
    ['clicks-large', false],
    ['criteo', true],
    ['csv', true],
    ['none', false],
  ]);
  const optimizers = describeOptimizers().map(({ id }) => id);
  expect(optimizers).toEqual(['sgd', 'adagrad', 'adam', 'adamw', 'lars']);
});

test('a sound workload passes and tells its sizes', () => {
  expect(check({})).toEqual({
    train: 8000,
    test: 2000,
    tensors: [1, 2, 3].flatMap((n) => [`layer${n}.weight`, `layer${n}.bias`]),
    layers: [1, 2, 3].map((n) => ({
      name: `layer${n}`,
      tensors: [`layer${n}.weight`, `layer${n}.bias`],
    })),
    iterationsPerPass: 62.5,
    memory: {
      tensors: expect.arrayContaining([
        {
          name: 'layer3.bias',
          shape: [10],
          start: 199_200,
          length: 10,
          isTable: false,
        },
      ]) as never,
      stateVectors: 1,
      stepsInArena: true,
      // 28 × 28 bytes and a label each.
      samples: { shared: 10_000 * 785, each: 0 },
      scores: 0,
      because: undefined,
    },
    weightDecay: undefined,
  });
});

test.each([
  ['MODEL_UNKNOWN', 'workload.model', { model: 'fnn33' }, 'Did you mean "fnn3"?'],
  [
    'DATASET_UNKNOWN',
    'workload.dataset',
    { dataset: 'mnsit' },
    'Did you mean "mnist"?',
  ],
  [
    'DATASET_UNKNOWN',
    'workload.dataset',
    { dataset: 'imagenet' },
    'Valid values: digits, mnist, shapes, cifar-10, sentences, text, text-characters, text-words, ' +
      'reversal, sparse, svmlight, trigrams, clicks, clicks-large, criteo, csv.',
  ],
  [
    'DATA_DIRECTORY_MISSING',
    'workload.data',
    { dataset: 'mnist' },
    'Set workload.data',
  ],
])('%s names place and next step', (code, place, workload, next) => {
  expect(() => check(workload)).toThrow(
    expect.objectContaining({
      code,
      kind: 'input',
      place,
      next: expect.stringContaining(next) as string,
    }),
  );
});

test.each([
  [
    { model: 'lstm-small' },
    'lstm-small needs "tokens", but a sample of digits has only: inputs, labels',
  ],
  [
    { dataset: 'sentences' },
    'fnn3 needs "inputs", but a sample of sentences has only: tokens',
  ],
  [{ dataset: 'shapes' }, '"inputs": fnn3 takes 784 numbers, shapes has 3072 numbers'],
  [{ model: 'vgg-16' }, '"inputs": vgg-16 takes 3072 numbers, digits has 784 numbers'],
])('%o do not fit', (workload, message) => {
  expect(() => check(workload)).toThrow(
    expect.objectContaining({ code: 'MODEL_DATASET_MISMATCH', message }),
  );
});

test('a text is cut into the windows that the model takes', () => {
  expect(check({ model: 'lstm-small', dataset: 'sentences' })).toMatchObject({
    train: 11_249,
    test: 1249,
    iterationsPerPass: 2812 / 32,
  });
});

test('an unknown optimizer', () => {
  expect(() => check({}, 'sdg')).toThrow(
    expect.objectContaining({ code: 'OPTIMIZER_UNKNOWN', place: 'optimizer.kind' }),
  );
});

test('a data directory is looked into', () => {
  expect(() => check({ dataset: 'mnist', data: temporaryDirectory() })).toThrow(
    expect.objectContaining({ code: 'DATA_FILE_MISSING' }),
  );
});

test('more ranks than samples', () => {
  expect(() => check({}, 'sgd', 8001)).toThrow(
    expect.objectContaining({ code: 'DATA_TOO_FEW_SAMPLES' }),
  );
});

const clickModel = { model: 'dlrm', dataset: 'clicks' };

test('linear models and those of clicks take the same clicks', () => {
  for (const model of ['dlrm', 'logistic-regression']) {
    const checked = check({ ...clickModel, model }, 'adagrad', 2);
    expect(checked).toMatchObject({ features: 2 ** 14, train: 18_000, test: 2000 });
  }
});

test('a click log has as many samples as a spec asks for, and needs memory for as many', () => {
  const sizes = (dataset: string, samples?: number) => {
    const {
      memory,
      test: tested,
      train,
    } = check({ ...clickModel, dataset, samples }, 'adagrad');
    return [train, tested, memory.samples?.shared];
  };
  // A label, 13 numbers and 26 categories of 4 bytes each.
  expect(sizes('clicks')).toEqual([18_000, 2000, 160 * 20_000]);
  expect(sizes('clicks', 1005)).toEqual([905, 100, 160 * 1005]);
  expect(sizes('clicks-large')).toEqual([150_000, 50_000, 160 * 200_000]);
  expect(sizes('clicks-large', 1_000_001)).toEqual([750_001, 250_000, 160_000_160]);
});

test('a rank trains its share of the samples that a spec asks for', async () => {
  const spec = parseExperimentSpec({
    workload: { model: 'logistic-regression', dataset: 'clicks', samples: 1005 },
    optimizer: { kind: 'adagrad' },
    world: { ranks: 2 },
  });
  const configuration = { spec, rank: 1, threads: 1, places: undefined };
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { shard } = await openWorkload(
    trainerOptions(configuration as unknown as Configuration, memory),
  );
  expect([shard.train.count, shard.test.count]).toEqual([452, 50]);
});

test('a number of samples is bounded, and told to have no effect elsewhere', () => {
  for (const samples of [9, 100_000_001, 10.5]) {
    expect(() => check({ ...clickModel, samples }, 'adagrad')).toThrow(
      expect.objectContaining({
        code: 'SPEC_INVALID',
        message: expect.stringContaining('"workload.samples"') as string,
      }),
    );
  }
  expect(() => check({ samples: 1000 })).toThrow(
    expect.objectContaining({
      message: 'the number of samples of digits is fixed',
      place: 'workload.samples',
      next: 'Remove it, or use the data set clicks or clicks-large.',
    }),
  );
});

const linear = { model: 'logistic-regression', dataset: 'sparse' };

test('a linear model is as large as the samples of its data', () => {
  expect(check(linear)).toMatchObject({ features: 65_536, train: 9000, test: 1000 });
  expect(check({ ...linear, features: 7 })).toMatchObject({ features: 7 });
  expect(check({})).not.toHaveProperty('features');
});

test('what does not fit is told with what would', () => {
  expect(() => check({ dataset: 'csv' })).toThrow(
    expect.objectContaining({
      next: 'With csv use logistic-regression or linear-svm or dlrm or dlrm-small. With fnn3 use digits or mnist.',
    }),
  );
});

test.each([
  ['FEATURES_IDLE', { features: 100 }, 'sgd'],
  ['COLUMNS_IDLE', { columns: { label: 'a' } }, 'sgd'],
  ['COLUMNS_IDLE', { ...clickModel, columns: {} }, 'sgd'],
  ['SAMPLES_IDLE', { samples: 1000 }, 'sgd'],
  ['SAMPLES_IDLE', { ...linear, samples: 1000 }, 'sgd'],
  [
    'PROGRAM_INVALID',
    { model: 'program', dataset: 'none', command: ['a'], samples: 1000 },
    'sgd',
  ],
  [
    'SYNTHETIC_INVALID',
    { model: 'synthetic-gradient', dataset: 'none', samples: 1000 },
    'sgd',
  ],
  ['FEATURES_TOO_FEW', { ...clickModel, features: 13 }, 'sgd'],
  ['MODEL_DATASET_MISMATCH', { ...clickModel, dataset: 'sparse' }, 'sgd'],
  ['MODEL_DATASET_MISMATCH', { ...clickModel, dataset: 'digits' }, 'sgd'],
  ['OPTIMIZER_TABLE_MISFIT', clickModel, 'adam'],
  ['MODEL_DATASET_MISMATCH', { model: 'linear-svm' }, 'sgd'],
  ['MODEL_DATASET_MISMATCH', { dataset: 'sparse' }, 'sgd'],
  ['OPTIMIZER_TABLE_MISFIT', linear, 'adam'],
  ['OPTIMIZER_TABLE_MISFIT', linear, 'lars'],
])('%s: %j with %s', (code, workload, kind) => {
  expect(() => check(workload, kind)).toThrow(
    expect.objectContaining({ code, kind: 'input' }),
  );
});

test('gradients are not clipped by a norm that leaves tables out', () => {
  const spec = parseExperimentSpec({
    workload: linear,
    optimizer: { kind: 'sgd', clipNorm: 1 },
  });
  expect(() => checkWorkload(spec.workload, spec.optimizer, 2)).toThrow(
    expect.objectContaining({
      code: 'OPTIMIZER_TABLE_MISFIT',
      place: 'optimizer.clipNorm',
    }),
  );
});
