/** What a supervisor finds in its directory of runs, and what of it it removes. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Journal } from '../../../src/agent/supervisor/journal/journal.ts';
import { removeRun } from '../../../src/agent/supervisor/runs/run-folder.ts';
import { RunTable } from '../../../src/agent/supervisor/runs/run-table.ts';
import { sampleSpec, started } from '../main/sample-records.ts';

let directory: string;
let warnings: string[];
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-runs-'));
  warnings = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const META = JSON.stringify({ spec: sampleSpec(), createdAt: 1 });

function folder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const made = path.join(directory, name);
  mkdirSync(made);
  for (const [file, text] of Object.entries(files)) {
    writeFileSync(path.join(made, file), text);
  }
  return made;
}

function restored(): RunTable {
  const runs = new RunTable(
    directory,
    () => undefined,
    (message) => warnings.push(message),
  );
  runs.restore();
  return runs;
}

test('a launch that was cut short leaves nothing', () => {
  folder('empty');
  folder('drafted', { 'run.json.draft': '{"spe' });
  folder('written', { 'run.json': META });
  restored();
  expect(readdirSync(directory)).toEqual([]);
  expect(warnings).toEqual([]);
});

test('what is not a run of ours stays, and the log says so once', () => {
  folder('photos', { 'a.jpg': 'x' });
  folder('checkpoints', { 'rank-0.gwc': 'x' });
  folder('run1', { 'run.json': META, 'notes.txt': 'mine' });
  folder('run2', { 'run.json': '{"scripts": {}}' });
  folder('run3', { 'journal.gwj': 'x' });
  folder('not a run’s name');
  writeFileSync(path.join(directory, 'file'), 'x');
  const target = mkdtempSync(path.join(tmpdir(), 'gradwire-other-'));
  symlinkSync(path.join(target, 'nowhere'), path.join(directory, 'link'));
  const before = readdirSync(directory);
  restored();
  rmSync(target, { recursive: true });
  expect(readdirSync(directory)).toEqual(before);
  expect(existsSync(path.join(directory, 'photos/a.jpg'))).toBe(true);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^left alone in .* no complete run: .*photos.* and \d+ more$/,
    ),
  ]);
});

test('a damaged run.json is named, and its journal stays', () => {
  const run = folder('r', { 'run.json': '{"spec": 5, "createdAt": 1}' });
  Journal.create(path.join(run, 'journal.gwj')).close();
  restored();
  expect(warnings).toEqual([
    expect.stringMatching(
      /run r cannot be restored .*run\.json: spec: expected a section/,
    ),
  ]);
  expect(existsSync(path.join(run, 'journal.gwj'))).toBe(true);
});

test('a removal that is cut short leaves a run, or what the next start removes', () => {
  const run = folder('r', { 'run.json': META });
  mkdirSync(path.join(run, 'checkpoints'));
  const journal = Journal.create(path.join(run, 'journal.gwj'));
  journal.append([started]);
  journal.close();
  removeRun(run);
  expect(readdirSync(directory)).toEqual([]);
});
