/**
 * The embedded data set: 8,000 + 2,000 handwriting-like digits, drawn on demand
 * (assembly/index.ts) and kept, so that a first experiment needs no download. The images are the same in
 * every run and on every machine: the run's seed only shuffles them.
 */
import { byteDataset } from './byte-dataset.ts';
import { digitClasses, digitWidth, type DigitSeries } from './digit-drawing.ts';
import { keptDigits } from './kept-digits.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const seed = 20_261_120;
const trainCount = 8_000;
const testCount = 2_000;

export const digits = byteDataset({
  id: 'digits',
  title: 'Digits (embedded)',
  summary: `${trainCount} + ${testCount} handwriting-like digits, 28×28, generated on the fly`,
  needsData: false,
  sampleShape: [digitWidth, digitWidth],
  classes: digitClasses,

  inspect: () => ({ train: trainCount, test: testCount }),

  // `async`, so that errors reject the promise.
  async open({ rank, world }) {
    const [train, test] = keptDigits(seed, [
      seriesOf(trainShard(trainCount, rank, world), world, 0),
      seriesOf(testShard(testCount, rank, world), world, trainCount),
    ]);
    return await Promise.resolve({ train: train!, test: test! });
  },
});

/** @param origin index of the part's first sample in the whole set */
function seriesOf(shard: Shard, world: number, origin: number): DigitSeries {
  return { first: origin + shard.sampleAt(0), step: world, count: shard.count };
}
