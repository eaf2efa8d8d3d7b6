/**
 * MNIST from its own four IDX files in a data directory (`workload.data`), or in its folder
 * `MNIST/raw` or `raw`, where torchvision puts them; each gzipped or plain. If only the `t10k` pair exists, it replaces the whole set: its first four
 * fifths (8,000) to train, the rest (2,000) to test, with a notice.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { GradwireError, inputError } from '../../../shared/errors/errors.ts';
import { byteDataset, type ByteSamples } from './byte-dataset.ts';
import type { DatasetSize } from './dataset.ts';
import { readIdx, readIdxHeader } from './idx-file.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

const FETCH = '`gradwire data fetch mnist` downloads them';

const side = 28;
const pixels = side * side;
const classes = 10;
const trainShareOfTestPart = 0.8;

/** The images and labels of one part of the set. */
interface Pair {
  readonly images: string;
  readonly labels: string;
}

type Found =
  | { readonly kind: 'whole'; readonly train: Pair; readonly test: Pair }
  | { readonly kind: 'test-part-only'; readonly test: Pair };

export const mnist = byteDataset({
  id: 'mnist',
  title: 'MNIST',
  summary: 'Handwritten digits, 28×28, from IDX files in a data directory',
  needsData: true,
  sampleShape: [side, side],
  classes,

  inspect({ directory }) {
    const found = findFiles(directory);
    const test = pairSize(found.test);
    if (found.kind === 'test-part-only') return splitTestPart(test, directory);
    return { train: pairSize(found.train), test };
  },

  async open({ rank, world, directory }) {
    const found = findFiles(directory);
    const total = pairSize(found.test);
    if (found.kind === 'test-part-only') {
      const split = splitTestPart(total, directory);
      const train = new Collector(trainShard(split.train, rank, world), 0);
      const test = new Collector(testShard(split.test, rank, world), split.train);
      await readPair(found.test, [train, test]);
      return { train, test };
    }
    const train = new Collector(trainShard(pairSize(found.train), rank, world), 0);
    const test = new Collector(testShard(total, rank, world), 0);
    await readPair(found.train, [train]);
    await readPair(found.test, [test]);
    return { train, test };
  },
});

function splitTestPart(samples: number, directory: string | undefined): DatasetSize {
  const train = Math.floor(samples * trainShareOfTestPart);
  return {
    train,
    test: samples - train,
    notice:
      `${directory} holds only MNIST's test part (t10k): its first ${train} samples ` +
      `are used to train, its last ${samples - train} to test.`,
  };
}

/** The samples of one shard, filled piece by piece as a file passes by. */
class Collector implements ByteSamples {
  readonly count: number;
  readonly values: Uint8Array;
  readonly labels: Uint8Array;
  readonly #shard: Shard;
  readonly #first: number;

  /** `first`: the number in the file of the part's first sample. */
  constructor(shard: Shard, first: number) {
    this.count = shard.count;
    this.values = new Uint8Array(shard.count * pixels);
    this.labels = new Uint8Array(shard.count);
    this.#shard = shard;
    this.#first = first;
  }

  addPixels(piece: Uint8Array, position: number): void {
    let from = 0;
    while (from < piece.length) {
      const sample = Math.floor((position + from) / pixels);
      const within = position + from - sample * pixels;
      const length = Math.min(piece.length - from, pixels - within);
      const place = this.#placeOf(sample);
      if (place >= 0) {
        this.values.set(piece.subarray(from, from + length), place * pixels + within);
      }
      from += length;
    }
  }

  addLabels(piece: Uint8Array, position: number): void {
    for (let i = 0; i < piece.length; i++) {
      const place = this.#placeOf(position + i);
      if (place >= 0) this.labels[place] = piece[i]!;
    }
  }

  #placeOf(sample: number): number {
    return sample < this.#first ? -1 : this.#shard.placeOf(sample - this.#first);
  }
}

async function readPair(pair: Pair, collectors: readonly Collector[]): Promise<void> {
  await readIdx(pair.images, imagesExpected, (piece, position) => {
    for (const collector of collectors) collector.addPixels(piece, position);
  });
  await readIdx(pair.labels, labelsExpected, (piece, position) => {
    const wrong = piece.findIndex((label) => label >= classes);
    if (wrong >= 0) {
      const offset = labelsHeaderBytes + position + wrong;
      throw inputError(
        'DATA_MISMATCH',
        `${pair.labels} has label ${piece[wrong]} at byte ${offset}, expected 0 to ` +
          `${classes - 1}`,
        { place: pair.labels, next: 'Fetch the file again.' },
      );
    }
    for (const collector of collectors) collector.addLabels(piece, position);
  });
}

const imagesExpected = { what: 'images', dimensions: [undefined, side, side] };
const labelsExpected = { what: 'labels', dimensions: [undefined] };
const labelsHeaderBytes = 8;

/** Samples of a pair, by its headers, which must agree. */
function pairSize(pair: Pair): number {
  const images = readIdxHeader(pair.images, imagesExpected).dimensions[0]!;
  const labels = readIdxHeader(pair.labels, labelsExpected).dimensions[0]!;
  if (images !== labels) {
    throw inputError(
      'DATA_MISMATCH',
      `${pair.labels} announces ${labels} labels at byte 4, expected ${images}, one ` +
        `for each image of ${path.basename(pair.images)}`,
      { place: pair.labels, next: 'Use images and labels from the same set.' },
    );
  }
  if (images === 0) {
    throw inputError('DATA_MISMATCH', `${pair.images} announces 0 images at byte 4`, {
      place: pair.images,
      next: 'Use a file with images in it.',
    });
  }
  return images;
}

/** Finds the files of the set in a directory. */
function findFiles(given: string | undefined): Found {
  if (given === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', 'mnist needs a data directory', {
      place: 'workload.data',
      next: `Set workload.data to the directory that holds its IDX files (${FETCH}), or use the data set "digits".`,
    });
  }
  const directory = folderOf(given);
  const names = listDirectory(directory);
  const trainImages = candidates('train-images-idx3-ubyte');
  const trainLabels = candidates('train-labels-idx1-ubyte');
  const testImages = candidates('t10k-images-idx3-ubyte');
  const testLabels = candidates('t10k-labels-idx1-ubyte');
  const find = (wanted: readonly string[]): string => {
    const name = wanted.find((candidate) => names.has(candidate));
    if (name !== undefined) return path.join(directory, name);
    throw inputError(
      'DATA_FILE_MISSING',
      `${directory} has none of ${wanted.join(', ')}`,
      {
        place: directory,
        next: 'Put the file there, or point workload.data elsewhere.',
      },
    );
  };
  const hasTrain = [...trainImages, ...trainLabels].some((name) => names.has(name));
  const test = { images: find(testImages), labels: find(testLabels) };
  if (!hasTrain) return { kind: 'test-part-only', test };
  return {
    kind: 'whole',
    train: { images: find(trainImages), labels: find(trainLabels) },
    test,
  };
}

const FOLDERS = [path.join('MNIST', 'raw'), 'raw'];

/** The directory itself, if it has a file of the set, or else its folder that has one. */
function folderOf(directory: string): string {
  const hasFile = (place: string): boolean =>
    [...listDirectory(place)].some((name) =>
      /^(train|t10k)-(images|labels)/.test(name),
    );
  if (hasFile(directory)) return directory;
  const folders = FOLDERS.map((folder) => path.join(directory, folder));
  return folders.find((place) => existsSync(place) && hasFile(place)) ?? directory;
}

/** The usual names of a file: gzipped or not, dash or dot. */
function candidates(name: string): string[] {
  const dotted = name.replace('-idx', '.idx');
  return [name, `${name}.gz`, dotted, `${dotted}.gz`];
}

function listDirectory(directory: string): ReadonlySet<string> {
  const missing = (why: string) =>
    inputError('DATA_DIRECTORY_MISSING', `${directory} ${why}`, {
      place: 'workload.data',
      next: `Set workload.data to the directory that holds the IDX files (${FETCH}).`,
    });
  try {
    if (!statSync(directory).isDirectory()) throw missing('is not a directory');
    return new Set(readdirSync(directory));
  } catch (error) {
    if (error instanceof GradwireError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw missing('does not exist');
    throw missing(`may not be read (${code})`);
  }
}
