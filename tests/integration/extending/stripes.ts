/** A data set from outside: 8 × 8 images with two bright rows, whose place is the class. */
import type {
  ByteDatasetDefinition,
  ByteSamples,
} from '../../../src/agent/training/datasets/byte-dataset.ts';
import {
  testShard,
  trainShard,
  type Shard,
} from '../../../src/agent/training/datasets/shard.ts';

const TRAIN = 384;
const TEST = 96;
const VALUES = 64;
const CLASSES = 3;

export const stripes: ByteDatasetDefinition = {
  id: 'stripes',
  title: 'Stripes',
  summary: '384 + 96 images of stripes, 8×8',
  needsData: false,
  sampleShape: [8, 8],
  classes: CLASSES,
  inspect: () => ({ train: TRAIN, test: TEST }),
  open: ({ rank, world }) =>
    Promise.resolve({
      train: draw(trainShard(TRAIN, rank, world), 0),
      test: draw(testShard(TEST, rank, world), TRAIN),
    }),
};

function draw({ count, sampleAt }: Shard, first: number): ByteSamples {
  const values = new Uint8Array(count * VALUES);
  const labels = new Uint8Array(count);
  for (let j = 0; j < count; j++) {
    const index = first + sampleAt(j);
    const label = index % CLASSES;
    labels[j] = label;
    for (let i = 0; i < VALUES; i++) {
      const bright = Math.floor(i / 16) === label;
      values[j * VALUES + i] = (bright ? 150 : 0) + ((index * 31 + i * 17) % 97);
    }
  }
  return { count, values, labels };
}
