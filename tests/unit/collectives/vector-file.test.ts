/** Results of `gradwire allreduce` in real files. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeVector } from '../../../src/agent/allreduce/vector-file.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-vector-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const values = Uint8Array.from({ length: 4000 }, (_, n) => n % 251);

async function store(file: string): Promise<void> {
  const arena = new Arena();
  const { offset } = arena.allocate(values.length);
  arena.u8(offset, values.length).set(values);
  await storeVector(arena, { offset, length: values.length / 4 }, file, 4);
}

test('a file is replaced', async () => {
  const file = path.join(directory, 'out.f32');
  await store(file);
  await store(file);
  expect(Uint8Array.from(readFileSync(file))).toEqual(values);
  expect(readdirSync(directory)).toEqual(['out.f32']);
});

test('a directory is refused', async () => {
  await expect(store(directory)).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
});

test.skipIf(process.platform === 'win32')(
  'a pipe, like a device, is written and stays',
  async () => {
    const pipe = path.join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
    const read = buffer(reader.stdout);
    const ended = once(reader, 'exit');
    try {
      await store(pipe);
      expect(lstatSync(pipe).isFIFO()).toBe(true);
      expect(Uint8Array.from(await read)).toEqual(values);
    } finally {
      reader.kill();
      await ended;
    }
    expect(readdirSync(directory)).toEqual(['pipe']);
  },
);
