/** A checkpoint is read back as it was written, or not at all. */
import { createHash, type Hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import {
  readCheckpoint,
  writeCheckpoint,
} from '../../../src/agent/checkpoint/checkpoint-file.ts';
import { encodeFrame } from '../../../src/shared/protocol/frame.ts';
import { runs } from '../../harness/effort.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-test-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});
const file = path.join(directory, '30', 'rank-0.gwc');

const parts = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 });
const header = fc.record({
  run: fc.string(),
  // MessagePack has no negative zero.
  numbers: fc.array(fc.double({ noNaN: true }).map((value) => value + 0)),
  absent: fc.constant(undefined),
});

describe('a checkpoint', () => {
  it('is read back, every bit of it', async () => {
    await fc.assert(
      fc.asyncProperty(header, parts, async (head, bytes) => {
        const written = await writeCheckpoint(file, { header: head, parts: bytes });
        expect(readFileSync(file).length).toBe(written);
        const read = await readCheckpoint(file);
        expect(read.header).toEqual(head);
        expect(read.parts.map((part) => [...part])).toEqual(
          bytes.map((part) => [...part]),
        );
      }),
      { numRuns: runs(20) },
    );
  });

  it('is written and read in pieces, as the system takes no more at once', async () => {
    const long = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
    const content = { header: 'h', parts: [long.subarray(1), long.subarray(0, 64)] };
    const handle = await open(path.join(directory, 'any'), 'w');
    await handle.close();
    const files = Object.getPrototypeOf(handle) as FileHandle;
    const hashes = Object.getPrototypeOf(createHash('sha256')) as Hash;
    using written = vi.spyOn(files, 'write');
    using read = vi.spyOn(files, 'read');
    using hashed = vi.spyOn(hashes, 'update');
    await writeCheckpoint(file, content, 64);
    expect(await readCheckpoint(file, 64)).toEqual(content);
    const longest = (calls: readonly (readonly unknown[])[]): number =>
      Math.max(
        ...calls.map(([piece, , bytes]) =>
          Number(bytes ?? (piece as Uint8Array).length),
        ),
      );
    expect([written, read, hashed].map(({ mock }) => longest(mock.calls))).toEqual([
      64, 64, 64,
    ]);
  });

  it('is refused with any bit changed, cut anywhere, or with more behind it', async () => {
    await writeCheckpoint(file, {
      header: { run: 'r', loss: 0.5 },
      parts: [Uint8Array.of(1, 2, 3), new Uint8Array(0), Uint8Array.of(255)],
    });
    const whole = readFileSync(file);
    const refuses = async (bytes: Uint8Array): Promise<void> => {
      writeFileSync(file, bytes);
      await expect(readCheckpoint(file)).rejects.toMatchObject({
        code: 'CHECKPOINT_INVALID',
      });
    };
    for (let at = 0; at < whole.length; at++) {
      const changed = Uint8Array.from(whole);
      changed[at]! ^= 1 << (at % 8);
      await refuses(changed);
      await refuses(whole.subarray(0, at));
    }
    await refuses(Buffer.concat([whole, Buffer.of(0)]));
    rmSync(file);
    await expect(readCheckpoint(file)).rejects.toMatchObject({
      code: 'CHECKPOINT_INVALID',
    });
  });

  it.each([
    ['a negative size', [-8]],
    ['sizes that cancel out', [-(2 ** 40), 2 ** 40]],
    ['a size beyond the file', [2 ** 50]],
    ['a size that is no integer', [0.5]],
    ['a size that is no number', ['8']],
    ['no list', 8],
  ])('is refused with %s in its header', async (_, sizes) => {
    const head = encodeFrame({ header: {}, sizes });
    const whole = Buffer.concat([Buffer.from('GWC1'), head, Buffer.alloc(32)]);
    writeFileSync(file, whole);
    await expect(readCheckpoint(file)).rejects.toMatchObject({
      code: 'CHECKPOINT_INVALID',
    });
  });

  it('that the disk cannot read is refused, so that an older one is tried', async () => {
    const folder = path.join(directory, 'folder.gwc');
    mkdirSync(folder); // opens, and its reads fail
    await expect(readCheckpoint(folder)).rejects.toMatchObject({
      code: 'CHECKPOINT_INVALID',
    });
  });

  it('that cannot be written leaves nothing, and the one before as it was', async () => {
    const before = { header: 1, parts: [] };
    await writeCheckpoint(file, before);
    const unreadable = new Proxy(new Uint8Array(8), {});
    await expect(
      writeCheckpoint(file, { header: 2, parts: [unreadable] }),
    ).rejects.toMatchObject({ code: 'CHECKPOINT_WRITE_FAILED' });
    expect(await readCheckpoint(file)).toEqual(before);
    expect(readdirSync(path.dirname(file))).toEqual(['rank-0.gwc']);
    const blocked = path.join(file, 'below-a-file');
    await expect(writeCheckpoint(blocked, before)).rejects.toMatchObject({
      code: 'CHECKPOINT_WRITE_FAILED',
    });
    expect(existsSync(`${blocked}.draft`)).toBe(false);
  });
});
