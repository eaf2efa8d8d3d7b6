import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { withOwnFiles } from '../../../src/main/spec/own-files.ts';
import { parseSpecText, specToYaml } from '../../../src/main/spec/spec-text.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { modelName } from '../../../src/shared/spec/model-name.ts';
import { MOST_MODEL_SOURCE } from '../../../src/shared/spec/workload-spec.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'gradwire-own-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const CODE = "// é\nexport default {\n  id: 'x',\n};\n";
writeFileSync(path.join(folder, 'mine.ts'), CODE);
writeFileSync(path.join(folder, 'long.js'), 'x'.repeat(MOST_MODEL_SOURCE + 1));

const read = async (workload: Record<string, unknown>) => {
  const spec = parseExperimentSpec({ workload: { dataset: 'digits', ...workload } });
  return (await withOwnFiles(spec, folder)).workload;
};

describe('a model’s file', () => {
  test('becomes part of the spec, from where the command is given', async () => {
    expect(await read({ model: './mine.ts' })).toMatchObject({
      model: './mine.ts',
      modelSource: CODE,
    });
    expect(await read({ model: 'mine.ts' })).toMatchObject({ modelSource: CODE });
    const absolute = path.join(folder, 'mine.ts');
    expect(await read({ model: absolute })).toMatchObject({ modelSource: CODE });
  });

  test('is that of the repeated run, even if the file has changed', async () => {
    const repeated = { model: './gone.ts', modelSource: 'as it was' };
    expect(await read(repeated)).toMatchObject(repeated);
  });

  test('is forgotten when another model is chosen', async () => {
    const chosen = await read({ model: 'fnn3', modelSource: CODE });
    expect(chosen).toMatchObject({ model: 'fnn3' });
    expect(chosen).not.toHaveProperty('modelSource');
  });

  test.each([
    ['./nope.ts', /nope\.ts does not exist$/],
    ['./', /is a directory$/],
    ['~/no-such-folder/nope.mjs', /no-such-folder\/nope\.mjs does not exist$/],
    ['./long.js', /has 256001 characters; a model may have at most 256000/],
  ])('%s cannot be read', async (model, message) => {
    await expect(read({ model })).rejects.toMatchObject({
      code: 'MODEL_FILE_UNREADABLE',
      kind: 'input',
      place: 'workload.model',
      message: expect.stringMatching(message) as string,
    });
  });

  test('stands in YAML as it was written, and is read back the same', async () => {
    const spec = { name: 'x', workload: await read({ model: './mine.ts' }) };
    const yaml = specToYaml(spec);
    expect(yaml).toContain(
      "  modelSource: |\n    // é\n    export default {\n      id: 'x',\n",
    );
    expect(parseSpecText(yaml, 'spec')).toEqual(spec);
  });
});

test('lists show a file by its name', () => {
  expect(modelName('fnn3')).toBe('fnn3');
  expect(modelName('/home/me/models/mine.ts')).toBe('mine.ts');
  expect(modelName('..\\mine.ts')).toBe('mine.ts');
});
