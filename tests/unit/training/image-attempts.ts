/** Attempts at mnist and cifar-10. */
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { directory, type Attempts } from './data-attempts.ts';
import { idxBytes } from './idx-fixtures.ts';

const pictures = (count: number): Buffer => idxBytes([count, 28, 28]);
const labels = (count: number): Buffer => idxBytes([count], 10);
const MNIST = {
  'train-images-idx3-ubyte': pictures(8),
  'train-labels-idx1-ubyte': labels(8),
  't10k-images-idx3-ubyte': pictures(4),
  't10k-labels-idx1-ubyte': labels(4),
};
const within = <T>(folder: string, files: Readonly<Record<string, T>>) =>
  Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [path.join(folder, name), bytes]),
  );
const without = <T>(files: Readonly<Record<string, T>>, name: string) =>
  Object.fromEntries(Object.entries(files).filter(([each]) => each !== name));
/** The header of a file with more dimensions or sizes than there are bytes. */
const announcing = (count: number): Buffer => {
  const bytes = pictures(8);
  bytes.writeUInt32BE(count, 4);
  return bytes;
};
const records = (count: number): Buffer => Buffer.alloc(count * 3073, 1);
const CIFAR = {
  ...Object.fromEntries(
    [1, 2, 3, 4, 5].map((number) => [`data_batch_${number}.bin`, records(2)]),
  ),
  'test_batch.bin': records(2),
};
const testPart = without(
  without(MNIST, 'train-images-idx3-ubyte'),
  'train-labels-idx1-ubyte',
);

export const images: Attempts = {
  '`mnist`': {
    'four files, gzipped or not': [
      directory('mnist', MNIST, { parts: [8, 4] }),
      directory(
        'mnist',
        Object.fromEntries(
          Object.entries(MNIST).map(([name, bytes]) => [`${name}.gz`, gzipSync(bytes)]),
        ),
        { parts: [8, 4] },
      ),
    ],
    "torchvision's directory, with `MNIST/raw`": [
      directory('mnist', within('MNIST/raw', MNIST), { parts: [8, 4] }),
      directory('mnist', within('raw', MNIST), { parts: [8, 4] }),
    ],
    'only the test part': [
      directory('mnist', { ...testPart }, { parts: [3, 1], says: 'only' }),
    ],
    'one of the files missing': Object.keys(MNIST).map((name) =>
      directory('mnist', without(MNIST, name)),
    ),
    'another magic number': [
      directory('mnist', { ...MNIST, 'train-images-idx3-ubyte': labels(8) }),
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': Buffer.from('PK\x03\x04zip'),
      }),
    ],
    'images of another size than 28×28': [
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': idxBytes([8, 32, 32]),
      }),
    ],
    'more images than labels, or fewer': [
      directory(
        'mnist',
        { ...MNIST, 'train-labels-idx1-ubyte': labels(7) },
        { says: '7 labels' },
      ),
      directory(
        'mnist',
        { ...MNIST, 'train-labels-idx1-ubyte': labels(9) },
        { says: '9 labels' },
      ),
    ],
    'a label above 9, also 255': [10, 255].map((label) => {
      const bytes = labels(8);
      bytes[8 + 3] = label;
      return directory(
        'mnist',
        { ...MNIST, 'train-labels-idx1-ubyte': bytes },
        {
          says: `label ${label} at byte 11`,
        },
      );
    }),
    'no images': [
      directory('mnist', {
        ...MNIST,
        't10k-images-idx3-ubyte': pictures(0),
        't10k-labels-idx1-ubyte': labels(0),
      }),
    ],
    'a file that is cut short': [
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': pictures(8).subarray(0, -1),
      }),
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': pictures(8).subarray(0, 9),
      }),
      directory('mnist', { ...MNIST, 'train-labels-idx1-ubyte': '' }),
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': gzipSync(pictures(8)).subarray(0, -9),
      }),
    ],
    'a gzipped file with zeros between its parts': ['between', ''].map((behind) => {
      const part = gzipSync(pictures(8));
      const rest = behind === '' ? part : Buffer.from(behind);
      const bytes = Buffer.concat([part, Buffer.alloc(512), rest]);
      const files = { ...MNIST, 'train-images-idx3-ubyte': bytes };
      return directory('mnist', files, { says: `byte ${part.length + 512} is not 0` });
    }),
    'bytes behind the last value': [
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': Buffer.concat([pictures(8), Buffer.of(1)]),
      }),
    ],
    'more images than the file can hold, gzipped or not': [
      ...[9, 0xffffffff].flatMap((count) => [
        directory('mnist', {
          ...MNIST,
          'train-images-idx3-ubyte': announcing(count),
          'train-labels-idx1-ubyte': labels(count === 9 ? 9 : 8),
        }),
      ]),
      directory('mnist', {
        ...MNIST,
        'train-images-idx3-ubyte': gzipSync(announcing(0xffffffff)),
      }),
    ],
    'a directory or a named pipe instead of a file': [
      directory('mnist', { ...MNIST, 'train-images-idx3-ubyte': 'DIRECTORY' }),
      directory('mnist', { ...MNIST, 'train-labels-idx1-ubyte': 'PIPE' }),
    ],
  },
  '`cifar-10`': {
    'six files': [
      directory('cifar-10', CIFAR, { parts: [10, 2] }),
      directory('cifar-10', within('cifar-10-batches-bin', CIFAR), {
        parts: [10, 2],
      }),
    ],
    'one of the files missing': Object.keys(CIFAR).map((name) =>
      directory('cifar-10', without(CIFAR, name)),
    ),
    'a file that is not of whole records, or empty': [
      directory('cifar-10', { ...CIFAR, 'test_batch.bin': records(2).subarray(1) }),
      directory('cifar-10', { ...CIFAR, 'test_batch.bin': '' }),
      directory('cifar-10', { ...CIFAR, 'data_batch_1.bin': gzipSync(records(2)) }),
    ],
    'a label above 9': [
      directory(
        'cifar-10',
        { ...CIFAR, 'test_batch.bin': Buffer.alloc(2 * 3073, 10) },
        {
          says: 'label 10 at byte 0',
        },
      ),
    ],
  },
};
