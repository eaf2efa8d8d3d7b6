/** Runs of a figure that are kept until its result is written, in a real directory. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeptRuns } from '../../../src/main/figures/kept-runs.ts';
import { findFigure } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';

const FIGURE = 'a2sgd-table-2';
const planned = plannedRuns(findFigure(FIGURE));
const device = { processor: 'A', cores: 2 };
const [first, second] = [planned[0]!, planned[1]!];
const runOf = ({ case: { id }, seed }: typeof first) => ({
  run: 'r1',
  case: id,
  seed,
  values: { bits: 64 },
  curve: [{ x: 1, y: 0.5 }],
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-kept-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const open = (resume: boolean, of: object = {}) =>
  KeptRuns.open(directory, FIGURE, { planned, device, resume, ...of });

test('runs are taken up by whoever resumes the same figure', async () => {
  const kept = await open(false);
  await kept.add(runOf(first), 1500);
  expect(await KeptRuns.count(directory, FIGURE, { planned, device })).toBe(1);
  const resumed = await open(true);
  expect(resumed.find(first)).toEqual({ run: runOf(first), milliseconds: 1500 });
  expect(resumed.find(second)).toBeUndefined();
  await resumed.add(runOf(second), 2);
  const again = await open(true);
  expect(
    [again.find(first), again.find(second)].map((one) => one?.milliseconds),
  ).toEqual([1500, 2]);
  await again.remove();
  expect(readdirSync(directory)).toEqual([]);
  expect(await KeptRuns.count(directory, FIGURE, { planned, device })).toBe(0);
});

test('a run whose line was changed or damaged is made again', async () => {
  const kept = await open(false);
  await kept.add(runOf(first), 1);
  await kept.add(runOf(second), 2);
  const file = path.join(directory, `${FIGURE}.runs.jsonl`);
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"bits":64', '"bits":65'));
  const again = await open(true);
  expect(again.find(first)).toBeUndefined();
  expect(again.find(second)?.milliseconds).toBe(2);
});

test('runs of another machine or spec, and those of who begins anew, are not', async () => {
  await (await open(false)).add(runOf(first), 1);
  const others = [
    { device: { processor: 'B', cores: 2 } },
    { device: { processor: 'A', cores: 4 } },
    { planned: plannedRuns(findFigure('qsgd-section-3')) },
  ];
  const file = path.join(directory, `${FIGURE}.runs.jsonl`);
  const before = readFileSync(file, 'utf8');
  for (const other of others) {
    writeFileSync(file, before);
    expect((await open(true, other)).find(first)).toBeUndefined();
  }
  writeFileSync(file, before);
  expect((await open(true)).find(first)).toBeDefined();
  expect((await open(false)).find(first)).toBeUndefined();
  expect((await open(true)).find(first)).toBeUndefined();
});

test.each(['', '\n', 'no JSON\n', '{"of": 5}\n', '[]'])(
  'a file of %j has none',
  async (text) => {
    writeFileSync(path.join(directory, `${FIGURE}.runs.jsonl`), text);
    const kept = await open(true);
    expect(kept.find(first)).toBeUndefined();
    await kept.add(runOf(first), 1);
    expect((await open(true)).find(first)).toBeDefined();
  },
);

test('a line that was cut costs its own run', async () => {
  await (await open(false)).add(runOf(first), 1);
  const file = path.join(directory, `${FIGURE}.runs.jsonl`);
  writeFileSync(file, `${readFileSync(file, 'utf8')}{"run": {"ru`);
  expect(await KeptRuns.count(directory, FIGURE, { planned, device })).toBe(1);
  const resumed = await open(true);
  await resumed.add(runOf(second), 1);
  const again = await open(true);
  expect([again.find(first), again.find(second)]).not.toContain(undefined);
});

test('there is no file without a run, and one that cannot be written is named', async () => {
  const kept = await open(false);
  expect(readdirSync(directory)).toEqual([]);
  expect(await KeptRuns.count(directory, FIGURE, { planned, device })).toBe(0);
  rmSync(directory, { recursive: true });
  writeFileSync(directory, '');
  await expect(kept.add(runOf(first), 1)).rejects.toMatchObject({
    code: 'OUTPUT_NOT_WRITABLE',
    place: path.join(directory, `${FIGURE}.runs.jsonl`),
  });
});
