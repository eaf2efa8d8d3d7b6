import { expect, test } from 'vitest';
import { loadPresets, readPreset } from '../../../src/main/spec/presets.ts';

test('every preset is a valid spec with a title and a description', async () => {
  const presets = await loadPresets();
  expect(presets.map(({ id }) => id)).toEqual([
    'quickstart',
    'digits-a2sgd',
    'digits-topk',
    'mnist-a2sgd',
    'mnist-topk',
  ]);
  for (const preset of presets) {
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
  await expect(readPreset('zzzzzzzzzzzzzzzz')).rejects.toMatchObject({
    next: expect.stringContaining('mnist-topk') as string,
  });
});
