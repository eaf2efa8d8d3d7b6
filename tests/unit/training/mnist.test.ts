import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { mnist } from '../../../src/agent/training/datasets/mnist.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { directoryOf, idxBytes, temporaryDirectory } from './idx-fixtures.ts';
import { trainTogether } from './train-together.ts';
import { realDataWith } from '../../harness/real-data.ts';

const trainPair = (count: number, suffix = '') => ({
  [`train-images-idx3-ubyte${suffix}`]: idxBytes([count, 28, 28]),
  [`train-labels-idx1-ubyte${suffix}`]: idxBytes([count], 10),
});
const testPair = (count: number, suffix = '') => ({
  [`t10k-images-idx3-ubyte${suffix}`]: idxBytes([count, 28, 28], 251),
  [`t10k-labels-idx1-ubyte${suffix}`]: idxBytes([count], 7),
});

/** The coded error in which both the look at the headers and the reading end. */
async function errorOf(directory: string | undefined): Promise<GradwireError> {
  const error = await mnist.open({ rank: 0, world: 2, directory }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GradwireError)) throw new Error(`not coded: ${String(error)}`);
  expect(error.kind).toBe('input');
  return error;
}

test.each(['', '.gz'])('the whole set (files named …%s) in shards', async (suffix) => {
  const directory = directoryOf({ ...trainPair(11, suffix), ...testPair(5, suffix) });
  expect(mnist.inspect({ directory })).toEqual({ train: 11, test: 5 });
  const images = idxBytes([11, 28, 28]).subarray(16);
  const seen = { train: [] as number[], test: [] as number[] };
  for (const rank of [0, 1, 2]) {
    const { train, test } = await mnist.open({ rank, world: 3, directory });
    expect(train.count).toBe(3);
    for (let j = 0; j < train.count; j++) {
      const sample = rank + 3 * j;
      seen.train.push(sample);
      expect(train.labels[j]).toBe(sample % 10);
      expect(Buffer.from(train.values.subarray(784 * j, 784 * (j + 1)))).toEqual(
        images.subarray(784 * sample, 784 * (sample + 1)),
      );
    }
    for (const label of test.labels) seen.test.push(label);
  }
  expect(new Set(seen.train).size).toBe(9);
  expect(seen.test.sort()).toEqual([0, 1, 2, 3, 4]);
});

test('with the t10k pair alone, four fifths train and the rest tests, with a notice', async () => {
  const directory = directoryOf(testPair(10));
  const size = mnist.inspect({ directory });
  expect(size).toMatchObject({ train: 8, test: 2 });
  expect(size.notice).toContain('first 8 samples');
  const { train, test } = await mnist.open({ rank: 0, world: 1, directory });
  const values = idxBytes([10, 28, 28], 251).subarray(16);
  expect(Buffer.from(train.values)).toEqual(values.subarray(0, 8 * 784));
  expect(Buffer.from(test.values)).toEqual(values.subarray(8 * 784));
  expect([...test.labels]).toEqual([8 % 7, 9 % 7]);
});

test('names with a dot, as some archives have them, are found', () => {
  const directory = directoryOf({
    't10k-images.idx3-ubyte': idxBytes([10, 28, 28]),
    't10k-labels.idx1-ubyte': idxBytes([10], 10),
  });
  expect(mnist.inspect({ directory })).toMatchObject({ train: 8 });
});

describe('what is wrong is one error', () => {
  test('no directory given', async () => {
    const error = await errorOf(undefined);
    expect(error.code).toBe('DATA_DIRECTORY_MISSING');
    expect(error.place).toBe('workload.data');
  });

  test('a directory that does not exist', async () => {
    const directory = path.join(temporaryDirectory(), 'nowhere');
    const error = await errorOf(directory);
    expect(error.code).toBe('DATA_DIRECTORY_MISSING');
    expect(error.message).toBe(`${directory} does not exist`);
  });

  test('a file in place of a directory', async () => {
    const directory = directoryOf({ file: Buffer.from('x') });
    expect((await errorOf(path.join(directory, 'file'))).message).toContain(
      'is not a directory',
    );
  });

  test('an empty directory: which names were looked for', async () => {
    const directory = temporaryDirectory();
    const error = await errorOf(directory);
    expect(error.code).toBe('DATA_FILE_MISSING');
    expect(error.message).toContain(
      't10k-images-idx3-ubyte, t10k-images-idx3-ubyte.gz',
    );
  });

  test('one of four files missing', async () => {
    const files: Record<string, Buffer> = { ...trainPair(10), ...testPair(5) };
    delete files['train-labels-idx1-ubyte'];
    const error = await errorOf(directoryOf(files));
    expect(error.code).toBe('DATA_FILE_MISSING');
    expect(error.message).toContain('train-labels-idx1-ubyte.gz');
  });

  test('more images than labels', async () => {
    const error = await errorOf(
      directoryOf({ ...testPair(10), 't10k-labels-idx1-ubyte': idxBytes([9], 10) }),
    );
    expect(error.code).toBe('DATA_MISMATCH');
    expect(error.message).toContain('announces 9 labels at byte 4, expected 10');
  });

  test('a label that is no digit: its offset', async () => {
    const labels = idxBytes([300], 10);
    labels[8 + 123] = 11;
    const error = await errorOf(
      directoryOf({ ...testPair(300), 't10k-labels-idx1-ubyte': labels }),
    );
    expect(error.code).toBe('DATA_MISMATCH');
    expect(error.message).toContain('label 11 at byte 131, expected 0 to 9');
  });

  test('no images at all', async () => {
    const error = await errorOf(directoryOf(testPair(0)));
    expect(error.code).toBe('DATA_MISMATCH');
  });

  test('fewer images than ranks', async () => {
    expect((await errorOf(directoryOf(testPair(2)))).code).toBe('DATA_TOO_FEW_SAMPLES');
  });
});

const all = realDataWith('t10k-images-idx3-ubyte.gz');
/** The test pair alone, which replaces the whole set. */
const real = all === undefined ? undefined : mkdtempSync(path.join(tmpdir(), 'mnist-'));
if (all !== undefined && real !== undefined) {
  for (const name of ['t10k-images-idx3-ubyte.gz', 't10k-labels-idx1-ubyte.gz'])
    symlinkSync(path.join(all, name), path.join(real, name));
}
afterAll(() => {
  if (real !== undefined) rmSync(real, { recursive: true });
});

describe.skipIf(real === undefined)('real MNIST', () => {
  test('its first labels are known, its images are dark strokes on nothing', async () => {
    expect(mnist.inspect({ directory: real })).toMatchObject({
      train: 8000,
      test: 2000,
    });
    const { train } = await mnist.open({ rank: 0, world: 1, directory: real });
    expect([...train.labels.subarray(0, 10)]).toEqual([7, 2, 1, 0, 4, 1, 4, 9, 5, 9]);
    const mean =
      train.values.reduce((sum, value) => sum + value, 0) / train.values.length;
    expect(mean / 255).toBeCloseTo(0.13, 1);
  });

  test('FNN-3 learns it', { tags: 'soak' }, async () => {
    const { accuracy } = await trainTogether({
      dataset: 'mnist',
      dataDirectory: real,
      world: 2,
      batchPerRank: 64,
      lr: 0.1,
      iterations: 150,
    });
    expect(accuracy).toBeGreaterThan(0.93);
  });
});
