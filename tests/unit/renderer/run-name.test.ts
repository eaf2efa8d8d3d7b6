import { expect, test } from 'vitest';
import { nextName } from '../../../src/renderer/state/experiment/run-name.ts';

test.each([
  ['mnist-topk', 'mnist-topk 2'],
  ['mnist-topk 2', 'mnist-topk 3'],
  ['mnist-topk 9', 'mnist-topk 10'],
  ['resnet20', 'resnet20 2'],
  ['20', '20 2'],
  [' 3', ' 3 2'],
  ['rates: lr 0.1, seed 3', 'rates: lr 0.1, seed 3 2'],
  ['rates: lr 0.1, seed 3 2', 'rates: lr 0.1, seed 3 3'],
  ['run 2026112612', 'run 2026112612 2'],
])('%s is followed by %s', (name, next) => {
  expect(nextName(name)).toBe(next);
});
