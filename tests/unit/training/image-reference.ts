/**
 * The forward passes of image classifiers in plain TypeScript and doubles, sample by sample and
 * pixel by pixel, as their papers write them down. Images are [row][column][channel].
 */
import type { ResNetShape } from '../../../src/agent/training/models/resnet.ts';
import type { VggShape } from '../../../src/agent/training/models/vgg.ts';

type Image = number[][][];
export type Batch = readonly Image[];

/** Mean and variance of each channel of each norm, in the norms' order. */
export type Moments = number[][];

/** How to normalise: by the batch's own moments, which are noted, or by given ones. */
export interface Norms {
  readonly given?: Moments;
  readonly noted: Moments;
}

/** Reads parameters one after the other. */
class Reader {
  #at = 0;
  readonly #flat: ArrayLike<number>;

  constructor(flat: ArrayLike<number>) {
    this.#flat = flat;
  }

  take(count: number): number[] {
    this.#at += count;
    return Array.from({ length: count }, (_, i) => this.#flat[this.#at - count + i]!);
  }
}

/** `weights[((down · 3 + right) · inputs + i) · outputs + o]`, zeros outside the image. */
export function referenceConvolution(
  image: Image,
  weights: readonly number[],
  outputs: number,
  stride: number,
): Image {
  const [rows, columns, inputs] = [
    image.length,
    image[0]!.length,
    image[0]![0]!.length,
  ];
  const result: Image = [];
  for (let row = 0; row < rows; row += stride) {
    const line: number[][] = [];
    for (let column = 0; column < columns; column += stride) {
      const pixel = new Array<number>(outputs).fill(0);
      for (let down = -1; down <= 1; down++) {
        for (let right = -1; right <= 1; right++) {
          const from = image[row + down]?.[column + right];
          if (from === undefined) continue;
          for (let i = 0; i < inputs; i++) {
            const at = (((down + 1) * 3 + right + 1) * inputs + i) * outputs;
            for (let o = 0; o < outputs; o++) {
              pixel[o] = pixel[o]! + from[i]! * weights[at + o]!;
            }
          }
        }
      }
      line.push(pixel);
    }
    result.push(line);
  }
  return result;
}

const mapPixels = (
  batch: Batch,
  change: (pixel: readonly number[]) => number[],
): Image[] => batch.map((image) => image.map((line) => line.map(change)));

const rectified = (batch: Batch): Image[] =>
  mapPixels(batch, (pixel) => pixel.map((value) => Math.max(0, value)));

function normalized(
  batch: Batch,
  scale: number[],
  shift: number[],
  norms: Norms,
): Image[] {
  const pixels = batch.flat(2);
  const mean = (of: (value: number) => number): number[] =>
    scale.map((_, c) => pixels.reduce((sum, p) => sum + of(p[c]!), 0) / pixels.length);
  const next = norms.noted.length;
  const own = mean((value) => value);
  const squares = mean((value) => value * value);
  norms.noted.push(
    own,
    squares.map((square, c) => square - own[c]! ** 2),
  );
  const means = (norms.given ?? norms.noted)[next]!;
  const variances = (norms.given ?? norms.noted)[next + 1]!;
  return mapPixels(batch, (pixel) =>
    pixel.map((value, c) => {
      const deviation = Math.sqrt(variances[c]! + 1e-5);
      return ((value - means[c]!) / deviation) * scale[c]! + shift[c]!;
    }),
  );
}

/** −log of the softmax of the right class. */
function crossEntropy(scores: readonly number[], label: number): number {
  const largest = Math.max(...scores);
  const sum = scores.reduce((total, score) => total + Math.exp(score - largest), 0);
  return Math.log(sum) + largest - scores[label]!;
}

function dense(values: readonly number[], weight: number[], bias: number[]): number[] {
  return bias.map((b, o) =>
    values.reduce((sum, value, i) => sum + value * weight[i * bias.length + o]!, b),
  );
}

export function resnetLosses(
  flat: ArrayLike<number>,
  batch: Batch,
  labels: ArrayLike<number>,
  { blocks, channels, classes }: ResNetShape,
  norms: Norms = { noted: [] },
): number[] {
  const reader = new Reader(flat);
  const layer = (images: Batch, outputs: number, stride: number): Image[] => {
    const inputs = images[0]![0]![0]!.length;
    const weights = reader.take(9 * inputs * outputs);
    const convolved = images.map((image) =>
      referenceConvolution(image, weights, outputs, stride),
    );
    return normalized(convolved, reader.take(outputs), reader.take(outputs), norms);
  };
  let values = rectified(layer(batch, channels[0]!, 1));
  for (const [stage, outputs] of channels.entries()) {
    for (let block = 0; block < blocks; block++) {
      const stride = stage > 0 && block === 0 ? 2 : 1;
      const kept = values.map((image) =>
        image
          .filter((_, row) => row % stride === 0)
          .map((line) =>
            line
              .filter((_, column) => column % stride === 0)
              .map((pixel) => [
                ...pixel,
                ...new Array<number>(outputs - pixel.length).fill(0),
              ]),
          ),
      );
      const changed = layer(rectified(layer(values, outputs, stride)), outputs, 1);
      values = rectified(
        changed.map((image, n) =>
          image.map((line, r) =>
            line.map((pixel, c) => pixel.map((v, i) => v + kept[n]![r]![c]![i]!)),
          ),
        ),
      );
    }
  }
  const last = channels.at(-1)!;
  const [weight, bias] = [reader.take(last * classes), reader.take(classes)];
  return values.map((image, n) => {
    const pixels = image.flat();
    const means = Array.from(
      { length: last },
      (_, c) => pixels.reduce((sum, pixel) => sum + pixel[c]!, 0) / pixels.length,
    );
    return crossEntropy(dense(means, weight, bias), labels[n]!);
  });
}

export function vggLosses(
  flat: ArrayLike<number>,
  batch: Batch,
  labels: ArrayLike<number>,
  { groups, classes }: VggShape,
  norms: Norms = { noted: [] },
): number[] {
  const reader = new Reader(flat);
  let values: Batch = batch;
  for (const group of groups) {
    for (const outputs of group) {
      const weights = reader.take(9 * values[0]![0]![0]!.length * outputs);
      const bias = reader.take(outputs);
      const convolved = mapPixels(
        values.map((image) => referenceConvolution(image, weights, outputs, 1)),
        (pixel) => pixel.map((value, o) => value + bias[o]!),
      );
      const [scale, shift] = [reader.take(outputs), reader.take(outputs)];
      values = rectified(normalized(convolved, scale, shift, norms));
    }
    values = values.map((image) =>
      Array.from({ length: image.length / 2 }, (_, r) =>
        Array.from({ length: image[0]!.length / 2 }, (__, c) =>
          image[0]![0]!.map((___, i) =>
            Math.max(
              ...[0, 1].flatMap((down) =>
                [0, 1].map((right) => image[2 * r + down]![2 * c + right]![i]!),
              ),
            ),
          ),
        ),
      ),
    );
  }
  const last = groups.at(-1)!.at(-1)!;
  const [weight, bias] = [reader.take(last * classes), reader.take(classes)];
  return values.map((image, n) =>
    crossEntropy(dense(image[0]![0]!, weight, bias), labels[n]!),
  );
}
