/** Sweeps as they are written: what is refused before any point is made. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadSweep, sweepOf } from '../../../src/main/spec/sweep-source.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gradwire-sweep-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const written = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const none = { set: [], vary: [] };

test('a file with a grid and no base says that the base is missing', async () => {
  const file = written('grid.yaml', 'grid: { optimizer.lr: [0.1, 0.2] }');
  await expect(loadSweep(file, none)).rejects.toMatchObject({
    code: 'SWEEP_INVALID',
    message: '"base" is missing',
  });
});

test('a sweep of a sweep is refused', async () => {
  written('inner.yaml', 'base: quickstart\ngrid: { optimizer.lr: [0.1] }');
  const file = written('outer.yaml', 'base: ./inner.yaml\nseeds: 2');
  await expect(loadSweep(file, none)).rejects.toMatchObject({
    code: 'SWEEP_INVALID',
    message: '"base" is a sweep itself',
  });
});

test.each([
  [{ vary: ['a=1', 'a=2'] }, 'SETTING_INVALID', 'varied twice'],
  [{ vary: ['='] }, 'SETTING_INVALID', '"=" is not key=value'],
  [{ name: ' ' }, 'SWEEP_INVALID', 'blank'],
  [{ name: 'last' }, 'SWEEP_INVALID', 'newest sweep'],
])('%j is refused', (changes, code, reason) => {
  const make = () => sweepOf({ base: {} }, 'here', { ...none, ...changes });
  expect(make).toThrow(expect.objectContaining({ code }));
  expect(make).toThrow(reason);
});
