import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readKernelFile } from '../../../src/agent/kernels/wasm/load.ts';

const built = path.join(import.meta.dirname, '../../../dist/kernels/kernels.wasm');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'gradwire-kernels-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

it.each(['', 'chunks'])(
  'is found by a bundle in a deployed folder, from "%s"',
  (from) => {
    mkdirSync(path.join(folder, from), { recursive: true });
    copyFileSync(built, path.join(folder, 'kernels.wasm'));
    expect(readKernelFile(path.join(folder, from))).toEqual(readKernelFile());
  },
);

it('says what is missing, where, and how to build it', () => {
  expect(() => readKernelFile(folder)).toThrow(
    expect.objectContaining({
      code: 'KERNELS_MISSING',
      message: expect.stringContaining(folder),
      next: 'Build it with: npm run build',
    }),
  );
});
