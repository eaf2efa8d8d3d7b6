import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeDirectory } from '../../../src/disk/make-directory.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-make-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});
const inside = (...parts: string[]): string => path.join(directory, ...parts);

test('missing parents are made, with the mode; what is there stays', async () => {
  await Promise.all([1, 2, 3].map(() => makeDirectory(inside('a', 'b', 'c'), 0o700)));
  for (const place of [inside('a'), inside('a', 'b', 'c')]) {
    expect(statSync(place).mode & 0o777).toBe(0o700);
  }
  await makeDirectory(inside('a', 'b'), 0o755);
  expect(statSync(inside('a', 'b')).mode & 0o777).toBe(0o700);
});

test('a file on the way is an error', async () => {
  writeFileSync(inside('file'), '');
  for (const place of [inside('file'), inside('file', 'below')]) {
    await expect(makeDirectory(place)).rejects.toMatchObject({ code: 'ENOTDIR' });
  }
});

test.skipIf(process.platform !== 'linux')(
  'a system that has no such place is asked once',
  async () => {
    await expect(makeDirectory('/proc/gradwire/a/b')).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/proc/gradwire',
    });
    expect(existsSync('/proc/gradwire')).toBe(false);
  },
);
