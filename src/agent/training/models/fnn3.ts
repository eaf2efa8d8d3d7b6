/**
 * FNN-3, the fully connected network of the A2SGD experiments: 784-200-200-10 with
 * biases and ReLU, 199,210 parameters (A2SGD, table of models).
 */
import { heInitializer } from './initial-weights.ts';
import { classifierKind } from './classifier.ts';
import { layered, type ModelLayer } from './layered.ts';
import type { ModelTensor } from './model.ts';

const widths = [784, 200, 200, 10] as const;

function tensorsOf(number: number, inputs: number, outputs: number): ModelTensor[] {
  return [
    {
      name: `layer${number}.weight`,
      shape: [inputs, outputs],
      initialize: heInitializer(inputs),
    },
    { name: `layer${number}.bias`, shape: [outputs], initialize: 'zeros' },
  ];
}

export const fnn3 = layered({
  id: 'fnn3',
  title: 'FNN-3',
  summary: 'Fully connected 784-200-200-10 with biases and ReLU, 199,210 parameters',
  ...classifierKind(widths[0], widths[3]),
  tensors: [
    ...tensorsOf(1, widths[0], widths[1]),
    ...tensorsOf(2, widths[1], widths[2]),
    ...tensorsOf(3, widths[2], widths[3]),
  ],
  layers: [1, 2, 3].map((number): ModelLayer => ({
    name: `layer${number}`,
    tensors: [`layer${number}.weight`, `layer${number}.bias`],
    fields: number === 1 ? ['inputs'] : [],
    output: { rows: 1, width: widths[number]! },
    apply({ jax: { nn, numpy }, parameters: [weight, bias], fields }, values) {
      const sums = numpy.matmul(values ?? fields.inputs!, weight!).add(bias!);
      return number === 3 ? sums : nn.relu(sums);
    },
  })),
});
