/**
 * Layers of well-known networks, made from their architectures: what a synthetic gradient
 * looks like, and how the time of a backward pass is shared. Counts are those of the sources.
 */

/** A layer of a network; lengths are numbers of elements. */
export interface ProfileLayer {
  readonly name: string;
  readonly tensors: readonly {
    readonly name: string;
    readonly shape: readonly number[];
  }[];
  /** Multiplications and additions of the forward pass for one sample, in pairs. */
  readonly products: number;
}

export interface Profile {
  readonly id: string;
  /** The profile in words, with its parameters and its source. */
  readonly summary: string;
  /** Layers in the order of the forward pass. */
  readonly layers: readonly ProfileLayer[];
}

const product = (sizes: readonly number[]): number =>
  sizes.reduce((all, size) => all * size, 1);

/** `positions`: in how many places of its output the kernel is applied. */
function convolution(
  name: string,
  shape: readonly [outputs: number, inputs: number, height: number, width: number],
  { side, bias = false }: { readonly side: number; readonly bias?: boolean },
): ProfileLayer {
  const weight = { name: `${name}.weight`, shape };
  const tensors = bias
    ? [weight, { name: `${name}.bias`, shape: [shape[0]] }]
    : [weight];
  return { name, tensors, products: product(shape) * side * side };
}

/** A norm's scale and shift. */
function norm(name: string, width: number, positions: number): ProfileLayer {
  const tensors = ['scale', 'shift'].map((part) => ({
    name: `${name}.${part}`,
    shape: [width],
  }));
  return { name, tensors, products: 2 * width * positions };
}

/** Applied to each of `positions` rows of a sample. */
function linear(
  name: string,
  inputs: number,
  outputs: number,
  positions = 1,
): ProfileLayer {
  const tensors = [
    { name: `${name}.weight`, shape: [outputs, inputs] },
    { name: `${name}.bias`, shape: [outputs] },
  ];
  return { name, tensors, products: inputs * outputs * positions };
}

/** Layer of a table, whose rows are looked up, not multiplied. */
const table = (name: string, rows: number, width: number): ProfileLayer => ({
  name,
  tensors: [{ name: `${name}.weight`, shape: [rows, width] }],
  products: width,
});

const alexnet: Profile = {
  id: 'alexnet',
  summary: 'AlexNet in one tower (Krizhevsky 2014), 61,100,840 parameters',
  layers: [
    convolution('conv1', [64, 3, 11, 11], { side: 55, bias: true }),
    convolution('conv2', [192, 64, 5, 5], { side: 27, bias: true }),
    convolution('conv3', [384, 192, 3, 3], { side: 13, bias: true }),
    convolution('conv4', [256, 384, 3, 3], { side: 13, bias: true }),
    convolution('conv5', [256, 256, 3, 3], { side: 13, bias: true }),
    linear('fc6', 256 * 6 * 6, 4096),
    linear('fc7', 4096, 4096),
    linear('fc8', 4096, 1000),
  ],
};

/** Channels and the side of the image, by stage; two or three convolutions in each. */
const VGG_STAGES = [
  { channels: 64, side: 224, convolutions: 2 },
  { channels: 128, side: 112, convolutions: 2 },
  { channels: 256, side: 56, convolutions: 3 },
  { channels: 512, side: 28, convolutions: 3 },
  { channels: 512, side: 14, convolutions: 3 },
];

function vgg16(): Profile {
  let inputs = 3;
  const features = VGG_STAGES.flatMap(({ channels, convolutions, side }, stage) =>
    Array.from({ length: convolutions }, (_, i) => {
      const name = `conv${stage + 1}_${i + 1}`;
      const layer = convolution(name, [channels, inputs, 3, 3], { side, bias: true });
      inputs = channels;
      return layer;
    }),
  );
  return {
    id: 'vgg-16',
    summary:
      'VGG-16 for ImageNet (Simonyan and Zisserman 2015), 138,357,544 parameters',
    layers: [
      ...features,
      linear('fc6', 512 * 7 * 7, 4096),
      linear('fc7', 4096, 4096),
      linear('fc8', 4096, 1000),
    ],
  };
}

/** Bottleneck blocks, their inner channels and the side of their output, by stage. */
const RESNET_STAGES = [
  { blocks: 3, channels: 64, side: 56 },
  { blocks: 4, channels: 128, side: 28 },
  { blocks: 6, channels: 256, side: 14 },
  { blocks: 3, channels: 512, side: 7 },
];
const EXPANSION = 4;

function resnet50(): Profile {
  const layers = [
    convolution('conv1', [64, 3, 7, 7], { side: 112 }),
    norm('norm1', 64, 112 * 112),
  ];
  let inputs = 64;
  for (const [stage, { blocks, channels, side }] of RESNET_STAGES.entries()) {
    const outputs = EXPANSION * channels;
    for (let block = 1; block <= blocks; block++) {
      const name = `stage${stage + 1}.${block}`;
      const narrow = stage > 0 && block === 1 ? 2 * side : side;
      const conv = (
        part: string,
        shape: readonly [number, number, number, number],
        at: number,
      ): void => {
        layers.push(
          convolution(`${name}.conv${part}`, shape, { side: at }),
          norm(`${name}.norm${part}`, shape[0], at * at),
        );
      };
      conv('1', [channels, inputs, 1, 1], narrow);
      conv('2', [channels, channels, 3, 3], side);
      conv('3', [outputs, channels, 1, 1], side);
      if (block === 1) conv('Shortcut', [outputs, inputs, 1, 1], side);
      inputs = outputs;
    }
  }
  layers.push(linear('fc', inputs, 1000));
  return {
    id: 'resnet-50',
    summary: 'ResNet-50 for ImageNet (He et al. 2016), 25,557,032 parameters',
    layers,
  };
}

function lstmPtb(): Profile {
  const [vocabulary, width, window] = [10_000, 1500, 35];
  const gates = 4 * width;
  const recurrent = (name: string): ProfileLayer => ({
    name,
    tensors: [
      { name: `${name}.input`, shape: [width, gates] },
      { name: `${name}.state`, shape: [width, gates] },
      { name: `${name}.inputBias`, shape: [gates] },
      { name: `${name}.stateBias`, shape: [gates] },
    ],
    products: 2 * width * gates * window,
  });
  return {
    id: 'lstm-ptb',
    summary: 'LSTM-PTB of A2SGD, windows of 35, 66,034,000 parameters',
    layers: [
      table('embedding', vocabulary, width),
      recurrent('layer1'),
      recurrent('layer2'),
      linear('output', width, vocabulary, window),
    ],
  };
}

function bertLarge(): Profile {
  const [width, inner, tokens] = [1024, 4096, 128];
  const block = (number: number): ProfileLayer[] => {
    const name = `block${number}`;
    const attention = ['query', 'key', 'value', 'output'].map((part) =>
      linear(`${name}.${part}`, width, width, tokens),
    );
    return [
      ...attention,
      norm(`${name}.norm1`, width, tokens),
      linear(`${name}.inner`, width, inner, tokens),
      linear(`${name}.outer`, inner, width, tokens),
      norm(`${name}.norm2`, width, tokens),
    ];
  };
  return {
    id: 'bert-large',
    summary:
      'BERT-large, uncased, with its pooler (Devlin et al. 2019), 128 tokens a sample, ' +
      '335,141,888 parameters',
    layers: [
      table('tokens', 30_522, width),
      table('positions', 512, width),
      table('segments', 2, width),
      norm('norm', width, tokens),
      ...Array.from({ length: 24 }, (_, i) => block(i + 1)).flat(),
      linear('pooler', width, width),
    ],
  };
}

export const profiles: ReadonlyMap<string, Profile> = new Map(
  [alexnet, vgg16(), resnet50(), lstmPtb(), bertLarge()].map((profile) => [
    profile.id,
    profile,
  ]),
);

/** Layers of plain tensors of these lengths, each element used once for a sample. */
export const plainLayers = (lengths: readonly number[]): readonly ProfileLayer[] =>
  lengths.map((length, i) => {
    const name = `layer${i + 1}`;
    return { name, tensors: [{ name, shape: [length] }], products: length };
  });
