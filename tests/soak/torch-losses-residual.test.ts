/** Losses by PyTorch and by WebAssembly: small residual networks. */
import { expect, test } from 'vitest';
import { pytorch } from '../harness/python.ts';
import { FILES, lossesOf, MOST, residualAlone } from './torch-losses.ts';

lossesOf(...FILES['residual']!);

test.skipIf(pytorch === undefined)(
  'ResNet-20 alone, at a rate at which differences do not grow',
  async () => {
    expect(await residualAlone()).toBeLessThanOrEqual(MOST);
  },
);
