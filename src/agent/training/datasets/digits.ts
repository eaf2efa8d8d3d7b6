/**
 * The embedded data set: 8,000 + 2,000 handwriting-like digits, drawn when they are
 * needed (digit-image.ts), so that a first experiment needs no download. The same
 * images in every run and on every machine: the run's seed shuffles them, it does not
 * draw others.
 */
import type { Dataset, RankShard, Samples } from './dataset.ts';
import {
  digitClasses,
  digitLabel,
  digitPixels,
  DigitRenderer,
  digitWidth,
} from './digit-image.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const seed = 20_261_120;
const trainCount = 8_000;
const testCount = 2_000;

export const digits: Dataset = {
  id: 'digits',
  title: 'Digits (embedded)',
  summary: `${trainCount} + ${testCount} handwriting-like digits, 28×28, drawn on the spot`,
  needsData: false,
  sampleShape: [digitWidth, digitWidth],
  classes: digitClasses,

  inspect: () => ({ train: trainCount, test: testCount }),

  open: ({ rank, world }) => {
    const renderer = new DigitRenderer();
    return Promise.resolve<RankShard>({
      train: draw(renderer, trainShard(trainCount, rank, world), 0),
      test: draw(renderer, testShard(testCount, rank, world), trainCount),
    });
  },
};

function draw(renderer: DigitRenderer, shard: Shard, first: number): Samples {
  const values = new Uint8Array(shard.count * digitPixels);
  const labels = new Uint8Array(shard.count);
  for (let j = 0; j < shard.count; j++) {
    const index = first + shard.sampleAt(j);
    labels[j] = digitLabel(seed, index);
    renderer.render(seed, index, values, j * digitPixels);
  }
  return { count: shard.count, values, labels };
}
