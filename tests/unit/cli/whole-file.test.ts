import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { writeParts } from '../../../src/cli/files/write-parts.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-whole-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const at = (name: string): string => path.join(directory, name);

async function write(file: string, fails = false): Promise<void> {
  async function* parts() {
    yield await Promise.resolve({ content: 'new', done: 0.5 });
    if (fails) throw new Error('the history is damaged');
  }
  await writeParts(parts(), file, () => undefined);
}

test('an export that fails leaves the one before it, and nothing beside it', async () => {
  writeFileSync(at('run.csv'), 'old');
  await expect(write(at('run.csv'), true)).rejects.toThrow('damaged');
  await expect(write(at('other.csv'), true)).rejects.toThrow('damaged');
  expect(readFileSync(at('run.csv'), 'utf8')).toBe('old');
  expect(readdirSync(directory)).toEqual(['run.csv']);
});

test('the history is no place for an export', async () => {
  vi.stubEnv('GRADWIRE_HOME', directory);
  writeFileSync(at('gradwire.db'), 'history');
  symlinkSync('gradwire.db', at('run.csv'));
  await expect(write(at('run.csv'))).rejects.toMatchObject({ code: 'OUTPUT_IS_INPUT' });
  expect(readFileSync(at('gradwire.db'), 'utf8')).toBe('history');
  vi.unstubAllEnvs();
});

test('a path that ends with a slash, or is empty, is that of no file', async () => {
  for (const out of ['', at('new/'), `${directory}/`]) {
    await expect(write(out)).rejects.toMatchObject({ code: 'EXPORT_WRITE_FAILED' });
  }
  expect(readdirSync(directory)).toEqual([]);
});

test('a whole one takes its place, with its permissions, also behind a link', async () => {
  writeFileSync(at('run.csv'), 'old');
  chmodSync(at('run.csv'), 0o640);
  symlinkSync('run.csv', at('link'));
  symlinkSync('nowhere', at('dangling'));
  await write(at('link'));
  expect(readFileSync(at('run.csv'), 'utf8')).toBe('new');
  expect(statSync(at('run.csv')).mode & 0o777).toBe(0o640);
  expect(readlinkSync(at('link'))).toBe('run.csv');
  await write(at('dangling'));
  expect(readFileSync(at('nowhere'), 'utf8')).toBe('new');
  await write(os.devNull);
  expect(statSync(os.devNull).isFile()).toBe(false);
  expect(readdirSync(directory).toSorted()).toEqual([
    'dangling',
    'link',
    'nowhere',
    'run.csv',
  ]);
});
