/**
 * Forms of a 3×3 convolution with jax-js on WebAssembly, by the sizes of ResNet-20 at batch 32:
 * processor time of the compiled forward pass, and of the gradients of images and weights
 * (which include a forward pass). `node bench/convolution.ts`
 */
import { convolve } from '../src/agent/training/models/convolution.ts';
import {
  openJaxRuntime,
  type Jax,
  type JaxArray,
} from '../src/agent/training/runtime/jax-runtime.ts';
import { median } from './quantiles.ts';

const BATCH = 32;
const ROUNDS = 9;
/** Channels and rows of the three stages. */
const SIZES = [
  [16, 32],
  [32, 16],
  [64, 8],
] as const;

/** A convolution of images [samples, rows, columns, inputs] and weights [9·inputs, outputs]. */
type Form = (jax: Jax, images: JaxArray, weights: JaxArray) => JaxArray;

const padded = ({ numpy }: Jax, images: JaxArray): JaxArray =>
  numpy.pad(images, [
    [0, 0],
    [1, 1],
    [1, 1],
    [0, 0],
  ]);

/** The image moved by each of the nine offsets. */
function moved(jax: Jax, images: JaxArray): JaxArray[] {
  const [, rows, columns] = images.shape as [number, number, number, number];
  const larger = padded(jax, images);
  const each = Array.from({ length: 9 }, (_, offset) => {
    const [down, right] = [Math.floor(offset / 3), offset % 3];
    return larger.ref.slice([], [down, down + rows], [right, right + columns]);
  });
  larger.dispose();
  return each;
}

const forms: Readonly<Record<string, Form>> = {
  'a product for each offset': (jax, images, weights) => convolve(jax, images, weights),

  '… read from slices': (jax, images, weights) => {
    const [samples, rows, columns, inputs] = images.shape as number[];
    const products = moved(jax, images).map((one, offset) =>
      jax.numpy.matmul(
        one.reshape([samples! * rows! * columns!, inputs!]),
        weights.ref.slice([offset * inputs!, (offset + 1) * inputs!]),
      ),
    );
    const outputs = weights.shape[1]!;
    weights.dispose();
    return products
      .reduce((sum, product) => sum.add(product))
      .reshape([samples!, rows!, columns!, outputs]);
  },

  'one product of all offsets': (jax, images, weights) => {
    const [samples, rows, columns, inputs] = images.shape as number[];
    const outputs = weights.shape[1]!;
    const beside = jax.numpy.concatenate(moved(jax, images), 3);
    return jax.numpy
      .matmul(beside.reshape([samples! * rows! * columns!, 9 * inputs!]), weights)
      .reshape([samples!, rows!, columns!, outputs]);
  },

  'lax.conv': ({ lax, numpy }, images, weights) => {
    const [inputs, outputs] = [images.shape[3]!, weights.shape[1]!];
    const kernel = weights.reshape([3, 3, inputs, outputs]);
    const result = lax.conv(
      numpy.transpose(images, [0, 3, 1, 2]),
      numpy.transpose(kernel, [3, 2, 0, 1]),
      [1, 1],
      [
        [1, 1],
        [1, 1],
      ],
    );
    return numpy.transpose(result, [0, 2, 3, 1]);
  },
};

const { jax } = await openJaxRuntime({ backend: 'wasm', threads: 1 });

const drawn = (shape: readonly number[]): JaxArray => {
  const length = shape.reduce((product, size) => product * size);
  const values = Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898));
  return jax.numpy.array(values, { shape: [...shape] });
};

/** Milliseconds of processor time, the median of all calls but the first. */
async function timed(call: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const before = process.cpuUsage().user;
    const result = call();
    await jax.blockUntilReady(result);
    times.push((process.cpuUsage().user - before) / 1000);
    jax.tree.dispose(result as never);
  }
  return median(times.slice(1));
}

for (const [name, form] of Object.entries(forms)) {
  for (const [channels, rows] of SIZES) {
    const images = drawn([BATCH, rows, rows, channels]);
    const weights = drawn([9 * channels, channels]);
    type Both = [JaxArray, JaxArray];
    const forward = jax.jit(([x, w]: Both) => form(jax, x, w));
    const backward = jax.jit(
      jax.valueAndGrad(([x, w]: Both) => jax.numpy.square(form(jax, x, w)).sum()),
    );
    const both = (): Both => [images.ref, weights.ref];
    const [one, all] = [
      await timed(() => forward(both())),
      await timed(() => backward(both())),
    ];
    console.log(
      name.padEnd(28),
      `${channels} channels, ${rows}×${rows}`.padEnd(22),
      `forward ${one.toFixed(1)} ms, with gradients ${all.toFixed(1)} ms`,
    );
    for (const array of [images, weights]) array.dispose();
  }
}
