import { mkdirSync, renameSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import { cifar10 } from '../../../src/agent/training/datasets/cifar-10.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { directoryOf, temporaryDirectory } from './idx-fixtures.ts';

const RECORD = 3073;

/** Bytes of the n-th record of a file; red, green and blue planes differ. */
const valueOf = (file: number, record: number, colour: number, pixel: number): number =>
  (file * 31 + record * 17 + colour * 71 + pixel * 3) % 256;

function batchFile(file: number, records: number): Buffer {
  const bytes = Buffer.alloc(records * RECORD);
  for (let record = 0; record < records; record++) {
    bytes[record * RECORD] = (file + record) % 10;
    for (let i = 0; i < 3072; i++) {
      const colour = Math.floor(i / 1024);
      bytes[record * RECORD + 1 + i] = valueOf(file, record, colour, i % 1024);
    }
  }
  return bytes;
}

/** Unequal, as the real ones are not; more than are read at once in the first. */
const lengths = [300, 2, 1, 4, 3, 5];
const fileNames = [
  ...[1, 2, 3, 4, 5].map((n) => `data_batch_${n}.bin`),
  'test_batch.bin',
];
const filesOf = () =>
  Object.fromEntries(fileNames.map((name, i) => [name, batchFile(i, lengths[i]!)]));

test('every training sample is in one shard, with its colours last', async () => {
  const directory = directoryOf(filesOf());
  expect(cifar10.inspect({ directory })).toEqual({ train: 310, test: 5 });
  const places = lengths
    .slice(0, 5)
    .flatMap((count, file) =>
      Array.from({ length: count }, (_, record) => ({ file, record })),
    );
  for (const rank of [0, 1, 2]) {
    const { train, test: tests } = await cifar10.open({ directory, rank, world: 3 });
    expect(train.count).toBe(103);
    for (let j = 0; j < train.count; j++) {
      const { file, record } = places[rank + 3 * j]!;
      expect(train.labels[j]).toBe((file + record) % 10);
      for (const [pixel, colour] of [
        [0, 0],
        [0, 2],
        [1023, 1],
        [517, 2],
      ] as const) {
        const at = j * 3072 + pixel * 3 + colour;
        expect(train.values[at]).toBe(valueOf(file, record, colour, pixel));
      }
    }
    const own = [0, 1, 2, 3, 4].filter((sample) => sample % 3 === rank);
    expect([...tests.labels]).toEqual(own.map((sample) => (5 + sample) % 10));
  }
});

test('each colour is normalised by its own mean and deviation', async () => {
  const directory = directoryOf(filesOf());
  const { train } = await cifar10.open({ directory, rank: 0, world: 1 });
  const fields = {
    inputs: { type: 'f32', shape: [32, 32, 3] },
    labels: { type: 'i32', shape: [] },
  } as const;
  const batch = allocateBatch(fields, 2);
  train.read(Uint32Array.of(7, 301), batch);
  const constants = [
    [0.4914, 0.247],
    [0.4822, 0.2435],
    [0.4465, 0.2616],
  ] as const;
  for (const [row, [file, record]] of [
    [0, 7],
    [1, 1],
  ].entries()) {
    for (const pixel of [0, 33, 1023]) {
      for (const [colour, [mean, deviation]] of constants.entries()) {
        const expected =
          (valueOf(file!, record!, colour, pixel) / 255 - mean) / deviation;
        expect(batch['inputs']![row * 3072 + pixel * 3 + colour]).toBeCloseTo(
          expected,
          5,
        );
      }
    }
  }
  expect([...batch['labels']!]).toEqual([7, 2]);
});

test('the folder of the archive may be given as well as what it lies in', () => {
  const inner = directoryOf(filesOf());
  const outer = temporaryDirectory();
  mkdirSync(path.join(outer, 'cifar-10-batches-bin'));
  for (const name of fileNames) {
    renameSync(path.join(inner, name), path.join(outer, 'cifar-10-batches-bin', name));
  }
  expect(cifar10.inspect({ directory: outer })).toEqual({ train: 310, test: 5 });
});

describe('what is not CIFAR-10 is refused', () => {
  async function errorOf(directory: string | undefined): Promise<GradwireError> {
    const error = await cifar10.open({ rank: 0, world: 2, directory }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof GradwireError))
      throw new Error(`not coded: ${String(error)}`);
    expect(error.kind).toBe('input');
    return error;
  }

  test('no directory, or none that is there', async () => {
    for (const directory of [undefined, path.join(temporaryDirectory(), 'nowhere')]) {
      const error = await errorOf(directory);
      expect(error.code).toBe('DATA_DIRECTORY_MISSING');
      expect(error.next).toContain('shapes');
    }
  });

  test('a missing file, by its name', async () => {
    const files: Record<string, Buffer> = filesOf();
    delete files['data_batch_4.bin'];
    const error = await errorOf(directoryOf(files));
    expect(error.code).toBe('DATA_FILE_MISSING');
    expect(error.message).toContain('data_batch_4.bin does not exist');
  });

  test.each([
    [2 * RECORD - 5, RECORD],
    [0, 0],
  ])('a file of %i bytes, with the offset', async (length, begun) => {
    const directory = directoryOf(filesOf());
    truncateSync(path.join(directory, 'data_batch_2.bin'), length);
    const error = await errorOf(directory);
    expect(error.code).toBe('DATA_FILE_TRUNCATED');
    expect(error.message).toContain(
      `data_batch_2.bin ends at byte ${length}, expected a multiple of 3073`,
    );
    expect(error.message).toContain(`begins at byte ${begun}`);
  });

  test('a label over 9, with the offset', async () => {
    const files = filesOf();
    files['data_batch_1.bin']![280 * RECORD] = 10;
    const error = await errorOf(directoryOf(files));
    expect(error.code).toBe('DATA_MISMATCH');
    expect(error.message).toContain(
      `data_batch_1.bin has label 10 at byte ${280 * RECORD}, expected 0 to 9`,
    );
  });
});
