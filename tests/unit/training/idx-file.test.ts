import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  readIdx,
  readIdxHeader,
} from '../../../src/agent/training/datasets/idx-file.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';
import { effort } from '../../harness/effort.ts';
import { idxBytes, temporaryDirectory } from './idx-fixtures.ts';

const images = { what: 'images', dimensions: [undefined, 28, 28] };
const labels = { what: 'labels', dimensions: [undefined] };
const count = 200;
const whole = idxBytes([count, 28, 28]);
const end = whole.length;

/** A file with these bytes. */
function fileOf(name: string, bytes: Uint8Array): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, bytes);
  return file;
}

/** Reads everything and puts the pieces together again. */
async function read(file: string): Promise<Buffer> {
  const values = Buffer.alloc(count * 784);
  await readIdx(file, images, (piece, position) => values.set(piece, position));
  return values;
}

/** The coded error that reading must end in, which must name the file. */
async function errorOf(file: string, expected = images): Promise<GradwireError> {
  const error = await readIdx(file, expected, () => undefined).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GradwireError)) throw new Error(`not coded: ${String(error)}`);
  expect(error.kind).toBe('input');
  expect(error.message).toContain(file);
  expect(error.place).toBe(file);
  expect(error.next).toBeDefined();
  return error;
}

test.each([
  ['plain', 'images', whole],
  ['gzipped', 'images.gz', gzipSync(whole)],
  ['gzipped without the name', 'images', gzipSync(whole)],
])('a %s file is read whole, in order', async (_, name, bytes) => {
  const file = fileOf(name, bytes);
  expect(readIdxHeader(file, images)).toEqual({
    dimensions: [count, 28, 28],
    headerBytes: 16,
    valueBytes: count * 784,
  });
  expect(await read(file)).toEqual(whole.subarray(16));
});

test('an empty set is read without a visit', async () => {
  const file = fileOf('labels', idxBytes([0]));
  const header = await readIdx(file, labels, () => {
    throw new Error('visited');
  });
  expect(header.valueBytes).toBe(0);
});

test.each([
  ['in its values', end - 1, `byte ${end - 1}`],
  ['after its header', 16, 'byte 16'],
])('a plain file cut %s: where it ends and where it should', async (_, size, place) => {
  const file = fileOf('images', whole.subarray(0, size));
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_FILE_TRUNCATED');
  expect(error.message).toContain(place);
  expect(error.message).toContain(`200×28×28 values, which end at byte ${end}`);
  expect(() => readIdxHeader(file, images)).toThrow(error.message);
});

test.each([0, 3, 4, 15])('a file that ends at byte %i has no header', async (size) => {
  const file = fileOf('images', whole.subarray(0, size));
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_FILE_TRUNCATED');
  expect(error.message).toContain(
    `ends at byte ${size}, inside its header of 16 bytes`,
  );
});

test('a gzip stream that stops in the middle', async () => {
  const bytes = gzipSync(whole);
  const file = fileOf('images.gz', bytes.subarray(0, bytes.length - 9));
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_FILE_TRUNCATED');
  expect(error.message).toMatch(/gzip stream, after byte \d+ of its contents/);
  // The header is fine, so a look at the headers alone passes.
  expect(readIdxHeader(file, images).dimensions[0]).toBe(count);
});

test.each([
  ['its checksum', (bytes: Buffer) => bytes.length - 6],
  ['its data', (bytes: Buffer) => bytes.length >> 1],
])('a gzip file damaged in %s', async (_, where) => {
  const bytes = gzipSync(whole);
  const at = where(bytes);
  bytes[at] = bytes[at]! ^ 0xff;
  const error = await errorOf(fileOf('images.gz', bytes));
  expect(error.code).toBe('DATA_FILE_CORRUPT');
  expect(error.message).toMatch(/damaged gzip file \(.+\), after byte \d+/);
});

test('a name that promises gzip, and bytes that are not', async () => {
  const file = fileOf('images.gz', whole);
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_FILE_CORRUPT');
  expect(error.message).toContain('00 00 at byte 0, expected 1f 8b');
  expect(() => readIdxHeader(file, images)).toThrow(error.message);
});

test('an empty .gz file', async () => {
  expect((await errorOf(fileOf('images.gz', Buffer.alloc(0)))).code).toBe(
    'DATA_FILE_TRUNCATED',
  );
});

test('labels where images should be', async () => {
  const file = fileOf('images', idxBytes([50]));
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_WRONG_MAGIC');
  expect(error.message).toContain('00 00 08 01 at byte 0, expected 00 00 08 03');
  expect(() => readIdxHeader(file, images)).toThrow(error.message);
});

test('a gzip file of something else', async () => {
  const file = fileOf('images.gz', gzipSync('Call me Ishmael.'));
  const error = await errorOf(file);
  expect(error.code).toBe('DATA_WRONG_MAGIC');
  expect(error.message).toContain('43 61 6c 6c');
});

test('images of another size', async () => {
  const error = await errorOf(fileOf('images', idxBytes([3, 28, 32])));
  expect(error.code).toBe('DATA_MISMATCH');
  expect(error.message).toContain('size 32 in dimension 2 at byte 12, expected 28');
});

test.each(['images', 'images.gz'])('bytes after the last value of %s', async (name) => {
  const longer = Buffer.concat([whole, Buffer.from('!')]);
  const file = fileOf(name, name.endsWith('.gz') ? gzipSync(longer) : longer);
  const visited: number[] = [];
  await expect(
    readIdx(file, images, (piece, position) => visited.push(position + piece.length)),
  ).rejects.toMatchObject({
    code: 'DATA_TRAILING_BYTES',
    message: expect.stringContaining(`after byte ${end}`) as string,
  });
  expect(Math.max(...visited)).toBe(count * 784);
});

test('a file that shrinks between look and reading is truncated, not a hang', async () => {
  const file = fileOf('images', whole);
  readIdxHeader(file, images);
  truncateSync(file, 1000);
  expect((await errorOf(file)).code).toBe('DATA_FILE_TRUNCATED');
  appendFileSync(file, Buffer.alloc(end - 1000));
  expect((await read(file)).length).toBe(count * 784);
});

test('a missing file and a directory in its place', async () => {
  const missing = path.join(temporaryDirectory(), 'images');
  expect((await errorOf(missing)).code).toBe('DATA_FILE_MISSING');
  mkdirSync(missing);
  const error = await errorOf(missing);
  expect(error.code).toBe('DATA_FILE_UNREADABLE');
  expect(error.message).toContain('not a regular file');
});

test('an error of the visitor passes through unchanged', async () => {
  const thrown = new Error('internal: of the visitor');
  const reading = readIdx(fileOf('images.gz', gzipSync(whole)), images, () => {
    throw thrown;
  });
  await expect(reading).rejects.toBe(thrown);
});

/** Bytes from one place of damage to the next. */
const STEP = effort({ quick: 31, soak: 3 });

test.each(['images', 'images.gz'])(
  '%s, damaged anywhere, is a coded error or still the same values',
  async (name) => {
    const small = idxBytes([2, 28, 28]);
    const bytes = name.endsWith('.gz') ? gzipSync(small) : small;
    const file = fileOf(name, bytes);
    const outcome = async (): Promise<string> => {
      const values = Buffer.alloc(2 * 784);
      try {
        await readIdx(file, images, (piece, position) => values.set(piece, position));
      } catch (error) {
        if (error instanceof GradwireError) return error.code;
        throw error;
      }
      return values.equals(small.subarray(16)) ? 'same' : 'other values';
    };
    for (let size = 0; size < bytes.length; size += STEP) {
      writeFileSync(file, bytes.subarray(0, size));
      expect(await outcome(), `cut at ${size}`).toMatch(/^DATA_/);
    }
    for (let at = 0; at < bytes.length; at += STEP) {
      const damaged = Buffer.from(bytes);
      damaged[at] = damaged[at]! ^ 0x41;
      writeFileSync(file, damaged);
      // A plain file has no checksum: a changed pixel is just another picture.
      const allowed = name === 'images' && at >= 16 ? /other values/ : /^DATA_|^same$/;
      expect(await outcome(), `flipped at ${at}`).toMatch(allowed);
    }
  },
);
