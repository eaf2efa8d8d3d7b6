/** The invariants of docs/architecture.md: each is cited where it is upheld, and its tests exist. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../../..');
const text = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const rows = [...text.matchAll(/^\| (I\d+) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, id, sentence, file, tests]) => ({
    id: id!,
    sentence: sentence!,
    file: file!,
    tests: tests!,
  }),
);
const quoted = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

test('they are numbered without a gap, as sentences', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.map(({ id }) => id)).toEqual(rows.map((_, at) => `I${at + 1}`));
  for (const { sentence } of rows) expect(sentence).toMatch(/^[A-Z].*\.$/);
});

test.each(rows)(
  '$id is upheld where it says, and held by tests',
  ({ id, file, tests }) => {
    const [upheld] = quoted(file);
    const source = readFileSync(path.join(root, 'src', upheld!), 'utf8');
    expect(source).toContain(`Upholds invariant ${id} (docs/architecture.md).`);
    expect(quoted(tests).length).toBeGreaterThan(0);
    for (const name of quoted(tests)) {
      expect(existsSync(path.join(root, 'tests', `${name}.test.ts`)), name).toBe(true);
    }
  },
);

test('code cites no other', () => {
  const known = new Set(rows.map(({ id }) => id));
  for (const file of globSync('src/**/*.{ts,svelte}', { cwd: root })) {
    const source = readFileSync(path.join(root, file), 'utf8');
    for (const [, id] of source.matchAll(/invariant (I\d+)/g)) {
      expect(known.has(id!), `${file} cites ${id}`).toBe(true);
    }
  }
});
