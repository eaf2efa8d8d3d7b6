/** Losses by PyTorch and by WebAssembly: small models, each backend going its own way. */
import { expect, test } from 'vitest';
import { models } from '../../src/agent/training/models/registry.ts';
import { alone, FILES, inStep, lossesOf } from './torch-losses.ts';

lossesOf(...FILES['small']!);

test('all built-in models are in a file, with settings', () => {
  const here = Object.values(FILES).flat();
  expect(here.toSorted()).toEqual([...models.keys()].toSorted());
  expect([...Object.keys(alone), ...Object.keys(inStep)].toSorted()).toEqual(
    here.toSorted(),
  );
});
