/**
 * FNN-3, the fully connected network of the A2SGD experiments: 784-200-200-10 with
 * biases and ReLU, 199,210 parameters (A2SGD, table of models).
 */
import { heInitializer } from './initial-weights.ts';
import { classifier } from './classifier.ts';
import type { ModelTensor } from './model.ts';

const widths = [784, 200, 200, 10] as const;

function layer(number: number, inputs: number, outputs: number): ModelTensor[] {
  return [
    {
      name: `layer${number}.weight`,
      shape: [inputs, outputs],
      initialize: heInitializer(inputs),
    },
    { name: `layer${number}.bias`, shape: [outputs], initialize: 'zeros' },
  ];
}

export const fnn3 = classifier({
  id: 'fnn3',
  title: 'FNN-3',
  summary: 'Fully connected 784-200-200-10 with biases and ReLU, 199,210 parameters',
  inputLength: widths[0],
  classes: widths[3],
  tensors: [
    ...layer(1, widths[0], widths[1]),
    ...layer(2, widths[1], widths[2]),
    ...layer(3, widths[2], widths[3]),
  ],

  logits({ numpy, nn }, parameters, inputs) {
    const [weight1, bias1, weight2, bias2, weight3, bias3] = parameters;
    const hidden1 = nn.relu(numpy.matmul(inputs, weight1!).add(bias1!));
    const hidden2 = nn.relu(numpy.matmul(hidden1, weight2!).add(bias2!));
    return numpy.matmul(hidden2, weight3!).add(bias3!);
  },
});
