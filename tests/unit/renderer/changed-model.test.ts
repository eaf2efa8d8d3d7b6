import { expect, test } from 'vitest';
import { withModel } from '../../../src/renderer/state/experiment/changed-model.ts';

const ours = {
  name: 'a',
  workload: { model: 'fnn3', dataset: 'mnist', batchPerRank: 32 },
  world: { ranks: 4 },
  optimizer: { kind: 'sgd' },
  iterations: 400,
};

test('a program has neither our data nor our optimiser, and ends by itself', () => {
  expect(withModel(ours, 'program')).toEqual({
    name: 'a',
    workload: { model: 'program' },
    world: { ranks: 4 },
  });
});

test('a model after a program has data again', () => {
  const program = { name: 'a', workload: { model: 'program', command: 'train' } };
  expect(withModel(program, 'fnn3')).toEqual({
    name: 'a',
    workload: { model: 'fnn3', dataset: 'digits' },
  });
});

test('another model of ours leaves the rest as it is', () => {
  expect(withModel(ours, 'lstm-small')).toEqual({
    ...ours,
    workload: { model: 'lstm-small', dataset: 'mnist', batchPerRank: 32 },
  });
});
