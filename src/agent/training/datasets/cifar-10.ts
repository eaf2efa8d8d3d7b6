/**
 * CIFAR-10 from the six files of its binary version in a data directory (`workload.data`), or
 * in its folder `cifar-10-batches-bin`: records of a label and 3,072 bytes, of a 32×32 image's
 * red, then green, then blue values, row by row. Samples have the colours last.
 *
 * Source: Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009, and the
 * description beside the files (www.cs.toronto.edu/~kriz/cifar.html).
 */
import { closeSync, openSync, readSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { inputError, type GradwireError } from '../../../shared/errors/errors.ts';
import { byteDataset, type ByteSamples } from './byte-dataset.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const SIDE = 32;
const PIXELS = SIDE * SIDE;
const COLOURS = 3;
const CLASSES = 10;
const RECORD = 1 + COLOURS * PIXELS;
/** Records that are read at once. */
const PIECE = 256;

const TRAIN_FILES = [1, 2, 3, 4, 5].map((number) => `data_batch_${number}.bin`);
const TEST_FILES = ['test_batch.bin'];
const FOLDER = 'cifar-10-batches-bin';

const NEXT = `Set workload.data to the directory of its binary version (${FOLDER}; \`gradwire data fetch cifar-10\` downloads it), or use the data set "shapes".`;

export const cifar10 = byteDataset({
  id: 'cifar-10',
  title: 'CIFAR-10',
  summary:
    'Photographs in ten classes, 32×32 in colour, from files in a data directory',
  needsData: true,
  sampleShape: [SIDE, SIDE, COLOURS],
  // Mean and standard deviation of each colour over the 50,000 training images, in 0…1, as
  // commonly published (github.com/gpleiss/efficient_densenet_pytorch, issue 68). A rank cannot
  // compute them, as it has only a shard.
  channels: [
    { mean: 0.4914, deviation: 0.247 },
    { mean: 0.4822, deviation: 0.2435 },
    { mean: 0.4465, deviation: 0.2616 },
  ],
  classes: CLASSES,

  inspect({ directory }) {
    const [train, test] = partsOf(directory);
    return { train: countOf(train), test: countOf(test) };
  },

  // `async`, so that errors reject the promise.
  async open({ directory, rank, world }) {
    const [train, test] = partsOf(directory);
    return await Promise.resolve({
      train: readShard(train, trainShard(countOf(train), rank, world)),
      test: readShard(test, testShard(countOf(test), rank, world)),
    });
  },
});

interface DataFile {
  readonly name: string;
  readonly count: number;
}

const countOf = (files: readonly DataFile[]): number =>
  files.reduce((sum, { count }) => sum + count, 0);

/** The files of the training and of the test part, with their lengths in records. */
function partsOf(
  directory: string | undefined,
): [train: readonly DataFile[], test: readonly DataFile[]] {
  if (directory === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', 'cifar-10 needs a data directory', {
      place: 'workload.data',
      next: NEXT,
    });
  }
  if (!isDirectory(directory)) {
    throw inputError('DATA_DIRECTORY_MISSING', `${directory} is not a directory`, {
      place: 'workload.data',
      next: NEXT,
    });
  }
  const inner = path.join(directory, FOLDER);
  const where = isDirectory(inner) ? inner : directory;
  const look = (names: readonly string[]): DataFile[] =>
    names.map((name) => lookAt(path.join(where, name)));
  return [look(TRAIN_FILES), look(TEST_FILES)];
}

/** @throws GradwireError `DATA_FILE_UNREADABLE` */
function statusOf(place: string): Stats | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch (error) {
    throw unreadable(place, error);
  }
}

function isDirectory(place: string): boolean {
  return statusOf(place)?.isDirectory() ?? false;
}

/** @throws GradwireError `DATA_FILE_MISSING`, `DATA_FILE_TRUNCATED` */
function lookAt(name: string): DataFile {
  const status = statusOf(name);
  if (status?.isFile() !== true) {
    throw inputError('DATA_FILE_MISSING', `${name} does not exist`, {
      place: name,
      next: 'Put the file there, or point workload.data elsewhere.',
    });
  }
  const count = Math.floor(status.size / RECORD);
  if (count > 0 && count * RECORD === status.size) return { name, count };
  throw inputError(
    'DATA_FILE_TRUNCATED',
    `${name} ends at byte ${status.size}, expected a multiple of ${RECORD}, the length ` +
      `of a record: the last one begins at byte ${count * RECORD}`,
    { place: name, next: 'Fetch the file again.' },
  );
}

/** The samples of a shard; the files are read piece by piece. */
function readShard(files: readonly DataFile[], shard: Shard): ByteSamples {
  const values = new Uint8Array(shard.count * COLOURS * PIXELS);
  const labels = new Uint8Array(shard.count);
  let first = 0;
  for (const { name, count } of files) {
    readRecords(name, count, (record, number) => {
      const place = shard.placeOf(first + number);
      if (place < 0) return;
      labels[place] = record[0]!;
      interleave(record.subarray(1), values.subarray(place * COLOURS * PIXELS));
    });
    first += count;
  }
  return { count: shard.count, values, labels };
}

/** Planes of colours to pixels. */
function interleave(planes: Uint8Array, out: Uint8Array): void {
  for (let colour = 0; colour < COLOURS; colour++) {
    for (let i = 0; i < PIXELS; i++) {
      out[i * COLOURS + colour] = planes[colour * PIXELS + i]!;
    }
  }
}

/** @throws GradwireError `DATA_MISMATCH`, `DATA_FILE_TRUNCATED`, `DATA_FILE_UNREADABLE` */
function readRecords(
  name: string,
  count: number,
  visit: (record: Uint8Array, number: number) => void,
): void {
  const piece = new Uint8Array(PIECE * RECORD);
  const handle = opened(name);
  try {
    for (let first = 0; first < count; first += PIECE) {
      const records = Math.min(PIECE, count - first);
      const wanted = piece.subarray(0, records * RECORD);
      fill(handle, wanted, { name, offset: first * RECORD });
      for (let i = 0; i < records; i++) {
        const record = wanted.subarray(i * RECORD, (i + 1) * RECORD);
        if (record[0]! >= CLASSES) {
          throw inputError(
            'DATA_MISMATCH',
            `${name} has label ${record[0]} at byte ${(first + i) * RECORD}, expected 0 ` +
              `to ${CLASSES - 1}`,
            { place: name, next: 'Fetch the file again.' },
          );
        }
        visit(record, first + i);
      }
    }
  } finally {
    closeSync(handle);
  }
}

function opened(name: string): number {
  try {
    return openSync(name, 'r');
  } catch (error) {
    throw unreadable(name, error);
  }
}

const unreadable = (place: string, error: unknown): GradwireError =>
  inputError(
    'DATA_FILE_UNREADABLE',
    `${place} cannot be read (${(error as NodeJS.ErrnoException).code})`,
    { place, next: 'Check that it is a file and that you may read it.' },
  );

function readPiece(handle: number, out: Uint8Array, name: string): number {
  try {
    return readSync(handle, out);
  } catch (error) {
    throw unreadable(name, error);
  }
}

function fill(
  handle: number,
  out: Uint8Array,
  { name, offset }: { readonly name: string; readonly offset: number },
): void {
  let done = 0;
  while (done < out.length) {
    const read = readPiece(handle, out.subarray(done), name);
    if (read === 0) {
      throw inputError(
        'DATA_FILE_TRUNCATED',
        `${name} ends at byte ${offset + done}, expected ${offset + out.length} bytes or more`,
        { place: name, next: 'Fetch the file again.' },
      );
    }
    done += read;
  }
}
