/** The length of files: what needs more lines is more than one concept. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const MOST_LINES = 400;
const root = path.join(import.meta.dirname, '../../..');

const filesOf = (folder: string): readonly string[] =>
  readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|svelte|css|html)$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name));

const linesOf = (file: string): number =>
  readFileSync(file, 'utf8').trimEnd().split('\n').length;

it.each(['src', 'tests'])(
  `no file of %s has more than ${MOST_LINES} lines`,
  (folder) => {
    const files = filesOf(folder);
    expect(files.length).toBeGreaterThan(900);
    const long = files
      .filter((file) => linesOf(file) > MOST_LINES)
      .map((file) => `${path.relative(root, file)}: ${linesOf(file)}`);
    expect(long).toEqual([]);
  },
);
