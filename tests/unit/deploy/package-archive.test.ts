/** Packages: the same bytes for the same files, packed once. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { packArchive } from '../../../src/main/deploy/package-archive.ts';
import type { PackageFile } from '../../../src/main/deploy/package-files.ts';

let directory: string;
let files: readonly PackageFile[];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gw-pack-'));
  const source = path.join(directory, 'source');
  writeFileSync(source, Buffer.alloc(3_000_000, 'gradient'));
  files = [
    { name: 'a.js', source, executable: false },
    { name: 'bin/b', source, executable: true },
  ];
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const archives = (): string => path.join(directory, 'packages');

test('machines that need one at the same time share it', async () => {
  const all = await Promise.all(
    Array.from({ length: 4 }, () => packArchive('agent', files, archives())),
  );
  const [first] = all;
  for (const other of all) expect(other).toEqual(first);
  const bytes = readFileSync(first!.file);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(first!.sha256);
  expect(bytes).toHaveLength(first!.bytes);
  expect(readdirSync(archives()).filter((name) => name.includes('.tmp'))).toEqual([]);
  const listed = execFileSync('tar', ['-tzvf', first!.file], { encoding: 'utf8' });
  expect(listed).toMatch(/^-rw-r--r--.* a\.js$/m);
  expect(listed).toMatch(/^-rwxr-xr-x.* bin\/b$/m);
});

test('a failure is retried', async () => {
  writeFileSync(archives(), 'no directory');
  await expect(packArchive('agent', files, archives())).rejects.toMatchObject({
    code: 'OUTPUT_NOT_WRITABLE',
  });
  rmSync(archives());
  expect((await packArchive('agent', files, archives())).bytes).toBeGreaterThan(0);
});

test('another file makes another package', async () => {
  const { hash } = await packArchive('agent', files, archives());
  writeFileSync(files[0]!.source, 'changed');
  expect((await packArchive('agent', files, archives())).hash).not.toBe(hash);
});
