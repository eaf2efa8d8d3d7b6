/** The length of files: what needs more lines is more than one concept. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const MOST_LINES = 400;
const source = path.join(import.meta.dirname, '../../../src');

const files = readdirSync(source, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.(ts|svelte|css|html)$/.test(entry.name))
  .map((entry) => path.join(entry.parentPath, entry.name));

const linesOf = (file: string): number =>
  readFileSync(file, 'utf8').trimEnd().split('\n').length;

it(`no file of the source has more than ${MOST_LINES} lines`, () => {
  expect(files.length).toBeGreaterThan(900);
  const long = files
    .filter((file) => linesOf(file) > MOST_LINES)
    .map((file) => `${path.relative(source, file)}: ${linesOf(file)}`);
  expect(long).toEqual([]);
});
