/** A model from outside: softmax regression of 64 values to 3 classes, 195 parameters. */
import {
  heInitializer,
  zeroInitializer,
} from '../../../src/agent/training/models/initial-weights.ts';
import type { Model } from '../../../src/agent/training/models/model.ts';

export const line: Model = {
  id: 'line',
  title: 'Line',
  summary: 'Softmax regression, 195 parameters',
  inputLength: 64,
  classes: 3,
  tensors: [
    { name: 'weight', shape: [64, 3], initialize: heInitializer(64) },
    { name: 'bias', shape: [3], initialize: zeroInitializer },
  ],
  logits: ({ numpy }, [weight, bias], inputs) =>
    numpy.matmul(inputs, weight!).add(bias!),
};
