/** Models of layers from files: against the same model as one function, and what is refused. */
import { afterEach, describe, expect, test } from 'vitest';
import { createTrainer } from '../../../src/agent/training/create-trainer.ts';
import { rehearseModel } from '../../../src/agent/training/inspect/rehearse-model.ts';
import { loadModelFile } from '../../../src/agent/training/models/model-file.ts';
import type { Trainer, TrainerOptions } from '../../../src/agent/training/trainer.ts';
import { documented } from '../../harness/documented.ts';
import {
  clickLayers,
  clicksWhole,
  nextTokenWhole,
  threeLayerWhole,
} from './own-models.ts';
import { trainerOptions } from './train-together.ts';

const threeLayer = documented('models.md', 'ts', '// three-layer.ts');
const nextToken = documented('models.md', 'ts', '// next-token.ts');

let open: Trainer[] = [];
afterEach(() => {
  for (const trainer of open) trainer.close();
  open = [];
});

interface Case {
  readonly name: string;
  readonly dataset: string;
  readonly layers: string;
  readonly whole: string;
  readonly more?: Partial<TrainerOptions>;
}

const CLICKS = {
  features: 250,
  optimizer: { kind: 'adagrad', lr: 0.1, momentum: 0, schedule: 'constant' },
} as const;

describe.each<Case>([
  {
    name: 'a classifier',
    dataset: 'digits',
    layers: threeLayer,
    whole: threeLayerWhole,
  },
  {
    name: 'tied embeddings and matrices',
    dataset: 'sentences',
    layers: nextToken,
    whole: nextTokenWhole,
  },
  {
    name: 'a table behind another layer',
    dataset: 'clicks',
    layers: clickLayers,
    whole: clicksWhole,
    more: CLICKS,
  },
])('$name', ({ dataset, layers, more, whole }) => {
  test('has the same bits as one function', async () => {
    const run = { dataset, world: 2, batchPerRank: 8, lr: 0.1, iterations: 9 };
    const trainers = await Promise.all(
      [layers, whole].map((modelSource) =>
        createTrainer({
          ...trainerOptions(run, 1),
          ...more,
          model: './own.ts',
          modelSource,
        }),
      ),
    );
    open = trainers;
    const [ofLayers, ofFunction] = await Promise.all(trainers.map(trained));
    expect(trainers[0]!.tensors).toEqual(trainers[1]!.tensors);
    expect(ofLayers).toEqual(ofFunction);
    // Something was computed, and it moved the weights.
    expect(Math.abs(ofLayers!.losses[0]!)).toBeGreaterThan(0.1);
    expect(ofLayers!.gradient.some((value) => value !== 0)).toBe(true);
    expect(ofLayers!.losses[0]).not.toBe(ofLayers!.losses[2]);
  });
});

async function trained(trainer: Trainer) {
  const gradient = new Float32Array(trainer.length);
  const losses = [];
  for (let iteration = 0; iteration < 3; iteration++) {
    trainer.loadBatch(iteration);
    losses.push((await trainer.computeGradient(gradient)).loss!);
    await trainer.applyGradient(gradient, iteration);
  }
  const weights = new Float32Array(trainer.length);
  await trainer.readWeights(weights);
  return { losses, gradient, weights, evaluated: await trainer.evaluate() };
}

/** The text of a file with these layers. */
const classifierOf = (layers: string, more = ''): string => `export default {
  id: 'own', title: 'Own', summary: '', inputLength: 784, classes: 10, ${more}
  layers: [${layers}],
};`;
const weight = (name: string, inputs: number, outputs: number): string =>
  `{ name: '${name}', shape: [${inputs}, ${outputs}], initialize: { normal: 0.1 } }`;
const layer = (name: string, tensors: string, output: string, apply = MATMUL): string =>
  `{ name: '${name}', tensors: [${tensors}], output: ${output}, ${apply} },`;
const MATMUL = 'apply: ({ numpy }, [weight], values) => numpy.matmul(values, weight)';
const first = layer('first', weight('one', 784, 20), '[20]');
const last = layer('last', weight('two', 20, 10), '[10]');

const changed = (from: string, to: string, source = nextToken): string => {
  if (!source.includes(from)) throw new Error(`the example has no ${from}`);
  return source.replace(from, to);
};

async function refusal(code: string): Promise<string> {
  try {
    await rehearseModel(await loadModelFile({ name: './own.ts', code }));
  } catch (error) {
    const { code: of, message } = error as { code: string; message: string };
    return `${of}: ${message}`;
  }
  return 'taken';
}

describe('refused is, with its reason,', () => {
  test.each<readonly [what: string, source: string, message: RegExp]>([
    [
      'a name that two layers have',
      classifierOf(first + layer('first', weight('two', 20, 10), '[10]')),
      /two of its layers have the name "first"/,
    ],
    [
      'a layer without tensors',
      classifierOf(first + layer('relu', '', '[20]') + last),
      /its layer "relu" has no tensors: move .* the layer before or after it/,
    ],
    [
      'a tensor that no layer before has',
      changed("tensors: ['embedding',", "tensors: ['embeding',"),
      /layer "scores" names the tensor "embeding", which no earlier layer has; did you mean "embedding"\?/,
    ],
    [
      'a tensor that two layers have',
      classifierOf(first + layer('last', weight('one', 20, 10), '[10]')),
      /layer "last" has a tensor "one", as an earlier layer does; .*give only its name/,
    ],
    [
      'a tensor that a layer has twice',
      changed("tensors: ['embedding',", "tensors: ['embedding', 'embedding',"),
      /layer "scores" has two tensors with the name "embedding"/,
    ],
    [
      'a tensor with a slip of the pen',
      changed('initialize: { normal: 0.1 }', 'initialise: { normal: 0.1 }'),
      /unknown key "layers\.0\.tensors\.0\.initialise"/,
    ],
    [
      'a tensor that is none',
      classifierOf(first + layer('last', '5', '[10]')),
      /"layers\.1\.tensors\.0": expected a section with keys/,
    ],
    [
      'a table in a second layer',
      changed(
        "{ name: 'top',",
        "{ name: 'again', tensors: ['rows'], output: [4], apply: (jax, p, v) => v }, { name: 'top',",
        clickLayers,
      ),
      /layer "again" names the tensor "rows", which has rowsOf: a table belongs to one layer/,
    ],
    [
      'a table of a classifier',
      classifierOf(
        layer(
          'first',
          "{ name: 'one', shape: [784, 20], initialize: 'ones', rowsOf: 'inputs' }",
          '[20]',
        ) + last,
      ),
      /its tensor "one" has rowsOf, which a classifier does not support/,
    ],
    [
      'rows that no field names',
      changed("rowsOf: 'categories'", "rowsOf: 'category'", clickLayers),
      /its tensor "rows" has rowsOf "category", which is not an input/,
    ],
    [
      'an output without an axis',
      classifierOf(first + layer('last', weight('two', 20, 10), '[]')),
      /"layers\.1\.output": /,
    ],
    [
      'no output',
      classifierOf(first + layer('last', weight('two', 20, 10), 'undefined')),
      /"layers\.1\.output": expected a list/,
    ],
    [
      'more than can pass',
      classifierOf(layer('first', weight('one', 784, 20), '[65536, 65536]') + last),
      /layer "first" outputs 4294967296 numbers per sample, too many to pass on/,
    ],
    [
      'a skip connection that is all of it',
      classifierOf(layer('first', weight('one', 784, 20), '[20], skip: 20') + last),
      /layer "first" has a skip connection of 20 units, but only 20 in all: at least one must be its own/,
    ],
    [
      'a skip connection of half a unit',
      classifierOf(layer('first', weight('one', 784, 20), '[20], skip: 0.5') + last),
      /"layers\.0\.skip": /,
    ],
    [
      'outputs of another shape',
      classifierOf(layer('first', weight('one', 784, 30), '[20]') + last),
      /own\.ts: its outputs of layer "first" have the shape \[2, 30\], expected \[2, 20\]$/,
    ],
    [
      'an axis of outputs too few',
      changed(
        'return values!.add(nn.relu(sums))',
        'return values!.add(nn.relu(sums)).sum(1)',
      ),
      /its outputs of layer "mixed" have the shape \[2, 32\], expected \[2, 16, 32\]$/,
    ],
    [
      'outputs that are no array',
      classifierOf(
        layer('first', weight('one', 784, 20), '[20]', 'apply: () => 5') + last,
      ),
      /its outputs of layer "first" are not a jax-js array/,
    ],
    [
      'outputs of whole numbers',
      classifierOf(
        layer(
          'first',
          weight('one', 784, 20),
          '[20]',
          'apply: ({ numpy }, [w], v) => numpy.matmul(v, w).astype(numpy.int32)',
        ) + last,
      ),
      /its outputs of layer "first" are of type int32, expected float32/,
    ],
    [
      'scores of other classes',
      classifierOf(first + layer('last', weight('two', 20, 12), '[12]')),
      /its last layer "last" has the output \[12\], but the model has 10 classes: the output must be \[10\]/,
    ],
    [
      'a field that is no input',
      changed("fields: ['tokens'],\n      output", "fields: ['token'],\n      output"),
      /its layer "embedding" takes "token", which is not an input/,
    ],
    [
      'a field that is asked for twice',
      changed(
        "head: {\n    fields: ['tokens']",
        "head: {\n    fields: ['tokens', 'tokens']",
      ),
      /its head takes "tokens" twice/,
    ],
    [
      'fields of a layer of a classifier',
      classifierOf(first + last.replace('output:', "fields: ['labels'], output:")),
      /it has an unknown key "layers\.1\.fields"/,
    ],
    [
      'a beginning without fields',
      changed("fields: ['tokens'],\n      output", 'output'),
      /its first layer "embedding" takes no fields of a batch/,
    ],
    [
      'an input that nothing takes',
      changed('inputs: {', "inputs: { labels: { type: 'i32', shape: [] },"),
      /its input "labels" is not in the fields of any layer or of its head/,
    ],
    [
      'a head with too many sums',
      changed('sums: []', 'sums: [losses.sum(1)]').replace(
        'losses.sum(1),',
        'losses.ref.sum(1),',
      ),
      /its head returns 1 sums, but perplexity takes 0/,
    ],
    [
      'a head that gives nothing',
      changed('return { losses', 'return; ({ losses').replace(
        'sums: [] };',
        'sums: [] });',
      ),
      /its head does not return \{ losses, sums \}/,
    ],
    [
      'a head without an objective',
      changed('objective({ nn }, scores', 'objectiv({ nn }, scores'),
      /it has an unknown key "head\.objectiv"/,
    ],
    ['no layers', classifierOf(''), /"layers": /],
    [
      'layers that are none',
      classifierOf('').replace('[]', '5'),
      /"layers": expected a list/,
    ],
    [
      'layers beside one function',
      classifierOf(first + last, 'logits: () => 5,'),
      /it has both "layers" and "logits": use only one/,
    ],
    [
      'tensors beside those of layers',
      classifierOf(first + last, 'tensors: [],'),
      /it has layers and "tensors": define/,
    ],
    [
      'statistics of micro-batches',
      changed('predictions: steps', "statistics: [{ name: 'mean', shape: [] }]"),
      /a model of layers cannot have statistics/,
    ],
    [
      'neither layers nor a function',
      classifierOf(first + last).replace(/layers: .*/, ''),
      /it has neither "layers" nor "logits"/,
    ],
    [
      'neither layers nor an objective',
      "export default { id: 'own', title: 'Own', summary: '', inputs: {}, metric: 'mse' };",
      /it has neither "layers" nor "objective"/,
    ],
    [
      'a slip of the pen',
      classifierOf(first + last).replace('layers:', 'layrs:'),
      /it has an unknown key "layrs"; did you mean "layers"\?/,
    ],
  ])('%s', async (_, source, message) => {
    const found = await refusal(source);
    expect(found).toMatch(/^MODEL_FILE_INVALID: \.\/own\.ts: /);
    expect(found).toMatch(message);
  });
});

test.each([
  ['one layer alone', classifierOf(layer('last', weight('one', 784, 10), '[10]'))],
  [
    'a layer that has nothing of its own',
    classifierOf(
      first +
        layer('square', weight('square', 20, 20), '[20]') +
        layer('again', "'square'", '[20]') +
        last,
    ),
  ],
  [
    'a layer that looks at itself',
    classifierOf(
      layer(
        'first',
        weight('one', 784, 20),
        '[20]',
        'apply({ numpy }, [w], v) { return numpy.matmul(v, w).reshape([-1, ...this.output]); }',
      ) + last,
    ),
  ],
  [
    'a layer of a class',
    `class Dense {
      #width;
      constructor(name, inputs, width) {
        this.name = name;
        this.tensors = [{ name, shape: [inputs, width], initialize: { normal: 0.1 } }];
        this.#width = width;
      }
      get output() { return [this.#width]; }
      apply({ numpy }, [weight], values) { return numpy.matmul(values, weight); }
    }
    ${classifierOf("new Dense('one', 784, 20), new Dense('two', 20, 10)")}`,
  ],
])('taken is %s', async (_, source) => {
  expect(await refusal(source)).toBe('taken');
});
