import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PRESET_GOALS } from '../../../src/main/spec/preset-goals.ts';
import { loadPresets, readPreset } from '../../../src/main/spec/spec-source.ts';

/** Ids of the files that come with Gradwire, sorted. */
const installed = async (): Promise<readonly string[]> =>
  (await readdir(path.join(import.meta.dirname, '../../../resources/presets')))
    .map((file) => path.parse(file).name)
    .sort();

test('every preset is a valid spec with a title and a description', async () => {
  const presets = await loadPresets();
  const [first, ...others] = presets.map(({ id }) => id);
  expect(first).toBe('quickstart');
  expect(['quickstart', ...others].sort()).toEqual(await installed());
  expect(others).toEqual(others.toSorted());
  expect(Object.keys(PRESET_GOALS).filter((id) => !others.includes(id))).toEqual([]);
  for (const preset of presets) {
    expect(preset.goal).toBe(PRESET_GOALS[preset.id]);
    expect(preset.title).not.toBe('untitled');
    expect(preset.description.length).toBeGreaterThan(20);
    expect(preset.yaml).toContain(preset.title);
  }
});

test('the quickstart is dense, on four ranks, on embedded data', async () => {
  const [quickstart] = await loadPresets();
  expect(quickstart!.spec).toMatchObject({
    workload: { model: 'fnn3', dataset: 'digits' },
    world: { ranks: 4 },
    exchange: { method: 'none' },
  });
});

test('an unknown preset names the nearest, or all', async () => {
  await expect(readPreset('quickstrat')).rejects.toMatchObject({
    code: 'PRESET_UNKNOWN',
    kind: 'input',
    next: 'Did you mean "quickstart"?',
  });
  for (const id of await installed()) {
    await expect(readPreset('zzzzzzzzzzzzzzzz')).rejects.toMatchObject({
      next: expect.stringContaining(id) as string,
    });
  }
});
