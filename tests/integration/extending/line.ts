/** A model from outside: softmax regression of 64 values to 3 classes, 195 parameters. */
import type { ClassifierDefinition } from '../../../src/agent/training/models/classifier.ts';

export const line: ClassifierDefinition = {
  id: 'line',
  title: 'Line',
  summary: 'Softmax regression, 195 parameters',
  inputLength: 64,
  classes: 3,
  tensors: [
    { name: 'weight', shape: [64, 3], initialize: { normal: Math.sqrt(2 / 64) } },
    { name: 'bias', shape: [3], initialize: 'zeros' },
  ],
  logits: ({ numpy }, [weight, bias], inputs) =>
    numpy.matmul(inputs, weight!).add(bias!),
};
