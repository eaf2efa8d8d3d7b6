import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import {
  temporaryDirectory,
  temporaryPlace,
} from '../../../src/disk/temporary-directory.ts';

const root = mkdtempSync('/tmp/gradwire-temporary-');
const inside = (name: string): string => path.join(root, name);
afterAll(() => {
  rmSync(root, { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test('the directory that the environment names is used if it can be', () => {
  mkdirSync(inside('own'));
  vi.stubEnv('TMPDIR', inside('own'));
  expect(temporaryPlace()).toBe(inside('own'));
  const made = temporaryDirectory('some-');
  expect(path.dirname(made)).toBe(inside('own'));
  expect(path.basename(made)).toMatch(/^some-.{6}$/);
  expect(statSync(made).mode & 0o777).toBe(0o700);
});

test.each(['missing', 'missing/below', 'file', 'file/below'])(
  'in place of %s comes /tmp',
  (name) => {
    writeFileSync(inside('file'), '');
    vi.stubEnv('TMPDIR', inside(name));
    expect(temporaryPlace()).toBe('/tmp');
    expect(existsSync(inside('missing'))).toBe(false);
  },
);

test.runIf(process.platform === 'linux')(
  'so it does for one in which nothing can be made, whatever its permissions say',
  () => {
    vi.stubEnv('TMPDIR', '/proc');
    expect(temporaryPlace()).toBe('/tmp');
  },
);

test('a path that is too long, counted in bytes, is not used', () => {
  const wide = inside('ü'.repeat(30));
  mkdirSync(wide);
  vi.stubEnv('TMPDIR', wide);
  expect(temporaryPlace({ longest: Buffer.byteLength(wide) })).toBe(wide);
  expect(temporaryPlace({ longest: Buffer.byteLength(wide) - 1 })).toBe('/tmp');
});

test('a preferred place comes first, if it can be used', () => {
  mkdirSync(inside('home'));
  expect(temporaryPlace({ preferred: inside('home') })).toBe(inside('home'));
  vi.stubEnv('TMPDIR', inside('home'));
  expect(temporaryPlace({ preferred: inside('absent') })).toBe(inside('home'));
});

test('where there is none, the error says why of each', () => {
  vi.stubEnv('TMPDIR', inside('absent'));
  expect(() => temporaryPlace({ longest: 3 })).toThrow(
    expect.objectContaining({
      code: 'TEMPORARY_DIRECTORY_UNUSABLE',
      message: expect.stringMatching(
        /absent has too long a path, \/tmp has too long a path, \/var\/tmp has/,
      ) as unknown,
    }),
  );
});
