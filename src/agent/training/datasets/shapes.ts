/**
 * The embedded data set of colour images: 8,000 + 1,000 shapes of ten kinds, each of another
 * size, place and colour, on a background of another colour, with noise. A convolution learns
 * them in some hundred iterations; a linear model does not. The same images in every run and on
 * every machine: the run's seed shuffles them, it does not draw others.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';
import { byteDataset, type ByteSamples } from './byte-dataset.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const SIDE = 32;
const COLOURS = 3;
const TRAIN = 8_000;
const TEST = 1_000;
const SEED = 20_261_123;
/** Scale of the noise, which is the sum of two bytes less its mean: a deviation of 20, of 255. */
const NOISE = 0.19;
/** Figure and ground differ by so much in one colour at least, of 255. */
const CONTRAST = 90;

/** Whether a point belongs to the figure, at (x, y) from its middle; sizes are 1. */
type Figure = (x: number, y: number) => boolean;

const [thin, broad] = [0.3, 0.62];
const radius = (x: number, y: number): number => Math.sqrt(x * x + y * y);
const reach = (x: number, y: number): number => Math.max(Math.abs(x), Math.abs(y));

/** Figures by class: disc, ring, square, frame, triangle, wedge, plus, cross, rows, columns. */
const figures: readonly Figure[] = [
  (x, y) => radius(x, y) < 1,
  (x, y) => radius(x, y) < 1 && radius(x, y) > broad,
  (x, y) => reach(x, y) < 1,
  (x, y) => reach(x, y) < 1 && reach(x, y) > broad,
  (x, y) => y < 1 && 2 * Math.abs(x) < 1 + y,
  (x, y) => y > -1 && 2 * Math.abs(x) < 1 - y,
  (x, y) => reach(x, y) < 1 && Math.min(Math.abs(x), Math.abs(y)) < thin,
  (x, y) => reach(x, y) < 1 && Math.abs(Math.abs(x) - Math.abs(y)) < thin,
  (x, y) => reach(x, y) < 1 && Math.abs(y) > 0.2 && Math.abs(y) < 0.9,
  (x, y) => reach(x, y) < 1 && Math.abs(x) > 0.2 && Math.abs(x) < 0.9,
];

export const shapes = byteDataset({
  id: 'shapes',
  title: 'Shapes (embedded)',
  summary: `${TRAIN} + ${TEST} coloured shapes of ten kinds, 32×32, generated on the fly`,
  needsData: false,
  sampleShape: [SIDE, SIDE, COLOURS],
  // About the middle and the deviation of the colours that are drawn.
  channels: Array.from({ length: COLOURS }, () => ({ mean: 0.5, deviation: 0.25 })),
  classes: figures.length,

  inspect: () => ({ train: TRAIN, test: TEST }),

  // Asynchronous, so that what goes wrong is the promise's.
  async open({ rank, world }) {
    return await Promise.resolve({
      train: drawShard(trainShard(TRAIN, rank, world), 0),
      test: drawShard(testShard(TEST, rank, world), TRAIN),
    });
  },
});

/** @param origin the number in the set of its part's first sample */
function drawShard(shard: Shard, origin: number): ByteSamples {
  const length = SIDE * SIDE * COLOURS;
  const values = new Uint8Array(shard.count * length);
  const labels = new Uint8Array(shard.count);
  const random = new RandomSequence({ seed: SEED });
  const noise = new Uint32Array(length / 2);
  for (let j = 0; j < shard.count; j++) {
    const sample = origin + shard.sampleAt(j);
    random.rename({ seed: SEED, iteration: sample, purpose: purposes.shape });
    labels[j] = random.below(figures.length);
    const out = values.subarray(j * length, (j + 1) * length);
    draw(figures[labels[j]!]!, random, noise, out);
  }
  return { count: shard.count, values, labels };
}

function draw(
  figure: Figure,
  random: RandomSequence,
  noise: Uint32Array,
  out: Uint8Array,
): void {
  const colour = (): number[] =>
    Array.from({ length: COLOURS }, () => random.between(20, 235));
  const ground = colour();
  let drawn = colour();
  while (drawn.every((value, i) => Math.abs(value - ground[i]!) < CONTRAST)) {
    drawn = colour();
  }
  const size = random.between(7, 12);
  const [left, top] = [
    random.between(size, SIDE - size),
    random.between(size, SIDE - size),
  ];
  for (let word = 0; word < noise.length; word++) noise[word] = random.word();
  const bytes = new Uint8Array(noise.buffer);
  let i = 0;
  for (let row = 0; row < SIDE; row++) {
    for (let column = 0; column < SIDE; column++) {
      const isIn = figure((column + 0.5 - left) / size, (row + 0.5 - top) / size);
      for (let c = 0; c < COLOURS; c++, i++) {
        const shake = NOISE * (bytes[2 * i]! + bytes[2 * i + 1]! - 255);
        const value = (isIn ? drawn : ground)[c]! + shake;
        out[i] = Math.min(255, Math.max(0, Math.round(value)));
      }
    }
  }
}
