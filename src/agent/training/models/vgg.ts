/**
 * VGG-16 for CIFAR: 13 convolutions (3×3, with biases), each followed by batch norm and ReLU,
 * 2×2 max pooling after each group until one pixel is left, and one dense layer.
 *
 * Source: Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
 * Recognition", 2014, configuration D. Batch norms and the single dense layer are those of the
 * A2SGD experiments: this gives their parameter count.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { normStatistics, normTensors } from './batch-norm.ts';
import { convolve, OFFSETS, type ImageSizes } from './convolution.ts';
import { imageClassifier, take } from './image-classifier.ts';
import { heInitializer } from './initial-weights.ts';
import type { Model } from './model.ts';

export interface VggShape {
  /** Channels of each convolution; max pooling follows each group. */
  readonly groups: readonly (readonly number[])[];
  /** Rows and columns of an image: 2 to the number of groups. */
  readonly width: number;
  readonly classes: number;
}

const COLOURS = 3;

export const vgg16 = vgg({
  id: 'vgg-16',
  title: 'VGG-16',
  summary:
    '13 convolutions and one dense layer for images of 32×32, 14,728,266 parameters',
  groups: [
    [64, 64],
    [128, 128],
    [256, 256, 256],
    [512, 512, 512],
    [512, 512, 512],
  ],
  width: 32,
  classes: 10,
});

export function vgg(
  definition: VggShape & Pick<Model, 'id' | 'title' | 'summary'>,
): Model {
  const { id, title, summary, groups, width, classes } = definition;
  const layers = groups.flatMap((group, g) =>
    group.map((outputs, c) => ({
      name: `group${g + 1}.convolution${c + 1}`,
      outputs,
      isLast: c === group.length - 1,
    })),
  );
  const last = layers.at(-1)!.outputs;
  return imageClassifier({
    id,
    title,
    summary,
    width,
    classes,
    channels: COLOURS,
    tensors: [
      ...layers.flatMap(({ name, outputs }, i) => {
        const fanIn = OFFSETS * (layers[i - 1]?.outputs ?? COLOURS);
        return [
          {
            name: `${name}.weight`,
            shape: [fanIn, outputs],
            initialize: heInitializer(fanIn),
          },
          { name: `${name}.bias`, shape: [outputs], initialize: 'zeros' as const },
          ...normTensors(name, outputs),
        ];
      }),
      {
        name: 'dense.weight',
        shape: [last, classes],
        initialize: heInitializer(last),
      },
      { name: 'dense.bias', shape: [classes], initialize: 'zeros' },
    ],
    statistics: layers.flatMap(({ name, outputs }) => normStatistics(name, outputs)),

    logits(jax, parameters, images, norms) {
      const { nn, numpy } = jax;
      const [samples] = images.shape as [number];
      let values = images;
      for (const { isLast } of layers) {
        const convolved = convolve(jax, values, take(parameters)).add(take(parameters));
        values = nn.relu(
          norms.normalize(convolved, take(parameters), take(parameters)),
        );
        if (isLast) values = largestOfFour(jax, values);
      }
      const flat = values.reshape([samples, last]);
      return numpy.matmul(flat, take(parameters)).add(take(parameters));
    },
  });
}

/** 2×2 max pooling of images with an even number of rows and columns. */
function largestOfFour({ numpy }: Jax, images: JaxArray): JaxArray {
  const [samples, rows, columns, channels] = images.shape as ImageSizes;
  const pairs = images.reshape([samples, rows / 2, 2, columns / 2, 2, channels]);
  return numpy.max(pairs, [2, 4]);
}
