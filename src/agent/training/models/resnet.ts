/**
 * Residual networks in their form for CIFAR: a 3×3 convolution, three stages of n blocks of two
 * convolutions with 16, 32 and 64 channels, the mean over the image, and one dense layer; 6·n + 2
 * layers. ResNet-18 has four stages of two blocks with the channels that its authors give it for
 * ImageNet, 64 to 512, behind the same first convolution: so it is commonly trained on CIFAR-10,
 * with weights in its shortcuts, which this one has not. Convolutions have no bias, each is followed by a batch norm. Where a stage begins
 * with half the rows and columns, its shortcut takes every second one and fills new channels
 * with 0 (option A), so that shortcuts have no parameters.
 *
 * Source: He et al., "Deep Residual Learning for Image Recognition", 2015, section 4.2.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import { normStatistics, normTensors, type BatchNorms } from './batch-norm.ts';
import { convolve, everyNth, OFFSETS, type ImageSizes } from './convolution.ts';
import { imageClassifier, take } from './image-classifier.ts';
import { heInitializer } from './initial-weights.ts';
import type { Model, ModelStatistic, ModelTensor } from './model.ts';

export interface ResNetShape {
  /** Blocks of a stage. */
  readonly blocks: number;
  /** Channels of each stage. */
  readonly channels: readonly number[];
  /** Rows and columns of an image. */
  readonly width: number;
  readonly classes: number;
}

interface Block {
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  readonly stride: number;
}

const COLOURS = 3;
const cifar = { channels: [16, 32, 64], width: 32, classes: 10 };

export const resnet20 = resnet({
  id: 'resnet-20',
  title: 'ResNet-20',
  summary: 'Residual network of 20 layers for images of 32×32, 269,722 parameters',
  blocks: 3,
  ...cifar,
});

export const resnet110 = resnet({
  id: 'resnet-110',
  title: 'ResNet-110',
  summary: 'Residual network of 110 layers for images of 32×32, 1,727,962 parameters',
  blocks: 18,
  ...cifar,
});

export const resnet18 = resnet({
  id: 'resnet-18',
  title: 'ResNet-18',
  summary:
    'Wide residual network of 18 layers for images of 32×32, 11,000,138 parameters',
  blocks: 2,
  channels: [64, 128, 256, 512],
  width: 32,
  classes: 10,
});

export function resnet(
  definition: ResNetShape & Pick<Model, 'id' | 'title' | 'summary'>,
): Model {
  const { id, title, summary, width, classes } = definition;
  const stem = definition.channels[0]!;
  const last = definition.channels.at(-1)!;
  const blocks = blocksOf(definition);
  return imageClassifier({
    id,
    title,
    summary,
    width,
    classes,
    channels: COLOURS,
    tensors: [
      ...convolutionTensors('stem', COLOURS, stem),
      ...blocks.flatMap(({ name, inputs, outputs }) => [
        ...convolutionTensors(`${name}.first`, inputs, outputs),
        ...convolutionTensors(`${name}.second`, outputs, outputs),
      ]),
      {
        name: 'dense.weight',
        shape: [last, classes],
        initialize: heInitializer(last),
      },
      { name: 'dense.bias', shape: [classes], initialize: 'zeros' },
    ],
    statistics: [
      ...normStatistics('stem', stem),
      ...blocks.flatMap(({ name, outputs }): readonly ModelStatistic[] => [
        ...normStatistics(`${name}.first`, outputs),
        ...normStatistics(`${name}.second`, outputs),
      ]),
    ],

    logits(jax, parameters, images, norms) {
      const { nn, numpy } = jax;
      const layer = (values: JaxArray, stride?: number): JaxArray =>
        convolveAndNorm(jax, values, parameters, norms, stride);
      let values = nn.relu(layer(images));
      for (const { inputs, outputs, stride } of blocks) {
        const kept = shortcut(jax, values.ref, outputs - inputs, stride);
        const changed = layer(nn.relu(layer(values, stride)));
        values = nn.relu(changed.add(kept));
      }
      const means = values.mean([1, 2]);
      return numpy.matmul(means, take(parameters)).add(take(parameters));
    },
  });
}

function blocksOf({ blocks, channels }: ResNetShape): readonly Block[] {
  return channels.flatMap((outputs, stage) =>
    Array.from({ length: blocks }, (_, block): Block => {
      const begins = block === 0 && stage > 0;
      return {
        name: `stage${stage + 1}.block${block + 1}`,
        inputs: begins ? channels[stage - 1]! : outputs,
        outputs,
        stride: begins ? 2 : 1,
      };
    }),
  );
}

function convolutionTensors(
  name: string,
  inputs: number,
  outputs: number,
): readonly ModelTensor[] {
  const fanIn = OFFSETS * inputs;
  return [
    {
      name: `${name}.weight`,
      shape: [fanIn, outputs],
      initialize: heInitializer(fanIn),
    },
    ...normTensors(name, outputs),
  ];
}

function convolveAndNorm(
  jax: Jax,
  values: JaxArray,
  parameters: Iterator<JaxArray>,
  norms: BatchNorms,
  stride = 1,
): JaxArray {
  const convolved = convolve(jax, values, take(parameters), stride);
  return norms.normalize(convolved, take(parameters), take(parameters));
}

/** Option A. */
function shortcut(
  { numpy }: Jax,
  values: JaxArray,
  added: number,
  stride: number,
): JaxArray {
  if (stride === 1 && added === 0) return values;
  const [, rows, columns] = values.shape as ImageSizes;
  // A side of an odd length keeps its last row: as many as the convolution gives.
  const missing = (size: number): [number, number] => [
    0,
    (stride - (size % stride)) % stride,
  ];
  const whole = numpy.pad(values, [
    [0, 0],
    missing(rows),
    missing(columns),
    [0, added],
  ]);
  return everyNth(whole, stride);
}
