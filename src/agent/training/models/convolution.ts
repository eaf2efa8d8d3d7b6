/**
 * A 3×3 convolution of images with channels last, padded by one row and column of zeros on
 * each side: the sum of nine matrix products, one per offset. Two alternatives were slower on
 * WebAssembly (docs/benchmarks.md): one product over all nine offsets (im2col), and jax-js's own
 * convolution, which took more than 20 times as long.
 *
 * Weights are a matrix [9·inputs, outputs]: rows are ordered by offset, from the upper left to the
 * lower right, then by channel. A method that factorises matrices can so factorise this gradient.
 *
 * Cost: 18·inputs·outputs operations per output pixel. Its backward pass keeps nine copies of
 * the input.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

/** Elements of the kernel along one side. */
const KERNEL = 3;
export const OFFSETS = KERNEL * KERNEL;

/**
 * Images [samples, ⌈rows ⁄ stride⌉, ⌈columns ⁄ stride⌉, outputs] of images
 * [samples, rows, columns, inputs]. Takes ownership of its arguments.
 */
export function convolve(
  jax: Jax,
  images: JaxArray,
  weights: JaxArray,
  stride = 1,
): JaxArray {
  const { numpy } = jax;
  const [samples, rows, columns, inputs] = images.shape as ImageSizes;
  const outputs = weights.shape[1]!;
  const [high, wide] = [Math.ceil(rows / stride), Math.ceil(columns / stride)];
  // Behind, so much that each offset has `stride` rows for each row of the output.
  const behind = (size: number, reached: number): number =>
    stride * reached + KERNEL - 1 - (size + 1);
  const padded = numpy.pad(images, [
    [0, 0],
    [1, behind(rows, high)],
    [1, behind(columns, wide)],
    [0, 0],
  ]);
  // jax-js 0.1.25 reads a slice inside the product, one number at a time. A value
  // computed from the slice is stored first and multiplied four numbers at a time, three
  // times as fast. Negating both factors leaves the product the same, bit for bit.
  const turned = weights.neg();
  let sum: JaxArray | undefined;
  for (let offset = 0; offset < OFFSETS; offset++) {
    const [down, right] = [Math.floor(offset / KERNEL), offset % KERNEL];
    const shifted = everyNth(
      padded.ref.slice(
        [],
        [down, down + stride * high],
        [right, right + stride * wide],
      ),
      stride,
    );
    const product = numpy.matmul(
      shifted.reshape([samples * high * wide, inputs]).neg(),
      turned.ref.slice([offset * inputs, (offset + 1) * inputs]),
    );
    sum = sum === undefined ? product : sum.add(product);
  }
  padded.dispose();
  turned.dispose();
  return sum!.reshape([samples, high, wide, outputs]);
}

export type ImageSizes = [
  samples: number,
  rows: number,
  columns: number,
  channels: number,
];

/** Every `stride`-th row and column; sizes must be multiples. */
export function everyNth(images: JaxArray, stride: number): JaxArray {
  if (stride === 1) return images;
  const [samples, rows, columns, channels] = images.shape as ImageSizes;
  const [high, wide] = [rows / stride, columns / stride];
  return images
    .reshape([samples, high, stride, wide, stride, channels])
    .slice([], [], 0, [], 0, [])
    .reshape([samples, high, wide, channels]);
}
