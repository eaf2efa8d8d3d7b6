/** Copies of programs' directories in a home: whole or not at all, whatever a client sends. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WorkTrees } from '../../../src/agent/supervisor/workdirs/work-trees.ts';
import {
  treeEntriesSchema,
  type FilePiece,
  type TreeEntry,
} from '../../../src/shared/protocol/work-tree.ts';

let directory: string;
let trees: WorkTrees;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-trees-'));
  trees = new WorkTrees(directory);
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const sha256 = (text: string): string =>
  createHash('sha256').update(text).digest('hex');
const file = (name: string, text: string, executable = false): TreeEntry => ({
  path: name,
  sha256: sha256(text),
  bytes: text.length,
  executable,
});
const piece = (text: string, offset = 0, end = text.length): FilePiece => ({
  sha256: sha256(text),
  bytes: text.length,
  offset,
  part: Buffer.from(text.slice(offset, end)),
});
const files = (): readonly string[] =>
  existsSync(path.join(directory, 'files'))
    ? readdirSync(path.join(directory, 'files'))
    : [];

test('what does not fit is refused before it is sent, with the space that it takes', () => {
  const content = { sha256: sha256('large'), bytes: 2 ** 52 };
  expect(() => trees.missing([content])).toThrow(
    /^the program’s directory cannot be copied to .*: it takes 9007 TB, and .* are free$/,
  );
  expect(files()).toEqual([]);
});

test('a tree is made of contents that came in parts, and is private', async () => {
  const entries = [
    file('a/run.sh', 'run', true),
    file('a/words', 'words'),
    { path: 'b', target: 'a/words' },
  ];
  expect(trees.missing(contentsOf(entries))).toHaveLength(2);
  const intake = trees.intake();
  intake.put([piece('words', 0, 2), piece('run')]);
  intake.put([piece('words', 2)]);
  expect(trees.missing(contentsOf(entries))).toEqual([]);
  const [tree, same] = await Promise.all([trees.make(entries), trees.make(entries)]);
  expect(same).toBe(tree);
  expect(readdirSync(path.join(directory, 'trees'))).toEqual([tree]);
  const place = trees.directoryOf(tree);
  expect(readFileSync(path.join(place, 'b'), 'utf8')).toBe('words');
  expect(statSync(path.join(place, 'a/run.sh')).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(place, 'a/words')).mode & 0o777).toBe(0o600);
  // A program that writes into its directory changes neither contents nor other trees.
  writeFileSync(path.join(place, 'a/words'), 'changed');
  const other = trees.directoryOf(await trees.make([file('words', 'words')]));
  expect(readFileSync(path.join(other, 'words'), 'utf8')).toBe('words');
});

const contentsOf = (entries: readonly TreeEntry[]) =>
  entries.flatMap((entry) =>
    'sha256' in entry ? [{ sha256: entry.sha256, bytes: entry.bytes }] : [],
  );

test('contents that are not what their name says are refused, and leave nothing', () => {
  const intake = trees.intake();
  const wrong = { ...piece('words'), part: Buffer.from('sword') };
  expect(() => intake.put([wrong])).toThrow('has not arrived as it was sent');
  expect(() => intake.put([piece('words', 2)])).toThrow('3 bytes at 2 of 5, after 0');
  const long = { ...piece('words'), part: Buffer.from('words!') };
  expect(() => intake.put([long])).toThrow('6 bytes at 0 of 5');
  expect(files()).toEqual([]);
  intake.put([piece('words', 0, 2)]);
  expect(files()).toHaveLength(1);
  intake.close();
  expect(files()).toEqual([]);
});

test('a content that was damaged on the disk is found and asked for again', async () => {
  trees.intake().put([piece('words')]);
  writeFileSync(path.join(directory, 'files', sha256('words')), 'sword');
  const entries = [file('words', 'words')];
  await expect(trees.make(entries)).rejects.toMatchObject({
    code: 'WORKDIR_FILE_DAMAGED',
  });
  expect(trees.missing(contentsOf(entries))).toEqual([sha256('words')]);
  expect(readdirSync(path.join(directory, 'trees'))).toEqual([]);
});

test('a tree without its contents is no tree, and what was cut short is removed', async () => {
  await expect(trees.make([file('words', 'words')])).rejects.toMatchObject({
    code: 'WORKDIR_FILE_DAMAGED',
  });
  expect(() => trees.directoryOf(sha256(''))).toThrow('there is no tree');
  mkdirSync(path.join(directory, 'trees/.half/a'), { recursive: true });
  trees.intake().put([piece('words'), piece('cut', 0, 1)]);
  trees.tidy();
  expect(readdirSync(path.join(directory, 'trees'))).toEqual([]);
  expect(files()).toEqual([sha256('words')]);
});

test.each([
  [[file('../x', 'a')], 'below the directory'],
  [[file('/x', 'a')], 'below the directory'],
  [[file('a//x', 'a')], 'below the directory'],
  [[file('a\0x', 'a')], 'below the directory'],
  [[file('a', 'a'), file('a', 'b')], 'given twice'],
  [[{ path: 'a', target: '/etc' }, file('a/passwd', 'a')], 'lies below a file'],
  [[file('a', 'a'), file('a/b/c', 'a')], 'lies below a file'],
  [[], 'Too small'],
])('a list such as %j is refused', (entries, words) => {
  const { error } = treeEntriesSchema.safeParse(entries);
  expect(JSON.stringify(error?.issues)).toContain(words);
});
