/** Places of data that the file system refuses in odd ways: each is the user's, so none is internal. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { datasets } from '../../../src/agent/training/datasets/registry.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-odd-'));
  const at = (name: string): string => path.join(directory, name);
  symlinkSync('loop', at('loop'));
  symlinkSync('nowhere', at('dangling'));
  writeFileSync(at('data'), '1 1:1\n0 1:2\n');
  symlinkSync('data.t', at('data.t'));
  writeFileSync(at('n'.repeat(255)), '1 1:1\n0 1:2\n');
  mkdirSync(at('folder'));
  symlinkSync('nowhere', at('folder/a.txt'));
  symlinkSync('b.txt', at('folder/b.txt'));
  for (const name of ['train-images-idx3-ubyte', 'data_batch_1.bin', 'c.csv']) {
    symlinkSync(name, at(`folder/${name}`));
  }
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('a test part that is a link to nowhere is no missing test part', () => {
  const file = path.join(directory, 'linked');
  writeFileSync(file, '1 1:1\n0 1:2\n');
  symlinkSync('/not/mounted', `${file}.t`);
  expect(() =>
    datasets.get('svmlight')!.inspect({ directory: file, inputs: {} }),
  ).toThrow(`${file}.t is a link that leads nowhere`);
});

test('texts whose lines end with returns alone are told so', () => {
  const file = path.join(directory, 'returns.tsv');
  writeFileSync(file, 'spam\ta\rham\tb\r');
  expect(() =>
    datasets.get('trigrams')!.inspect({ directory: file, inputs: {} }),
  ).toThrow('a carriage return that does not end a line');
});

const reading = [...datasets.values()].filter(({ needsData }) => needsData === true);
const places = ['loop', 'dangling', 'data', 'n'.repeat(255), 'folder', 'folder/b.txt'];

test.each(reading.map(({ id }) => id))('%s refuses them, or reads them', (id) => {
  const found = datasets.get(id)!;
  for (const place of [...places, 'data/below', 'x'.repeat(256)]) {
    try {
      found.inspect({ directory: path.join(directory, place), inputs: {} });
    } catch (error) {
      expect(error, `${id} at ${place}: ${String(error)}`).toBeInstanceOf(
        GradwireError,
      );
      expect((error as GradwireError).kind).toBe('input');
    }
  }
});
