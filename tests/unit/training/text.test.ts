import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import type { Samples } from '../../../src/agent/training/datasets/dataset.ts';
import {
  sentences,
  writeSentences,
} from '../../../src/agent/training/datasets/sentences.ts';
import { text } from '../../../src/agent/training/datasets/text.ts';
import { temporaryDirectory } from './idx-fixtures.ts';

const inputsOf = (length: number) => ({
  tokens: { type: 'i32' as const, shape: [length] },
});

/** Every window of a part, as text. */
function windowsOf(samples: Samples, length: number): string[] {
  const rows = Uint32Array.from({ length: samples.count }, (_, i) => i);
  const batch = allocateBatch(inputsOf(length), rows.length);
  samples.read(rows, batch);
  const bytes = Buffer.from(batch['tokens']!);
  return [...rows].map((row) =>
    bytes.toString('latin1', row * length, (row + 1) * length),
  );
}

function fileOf(content: string): string {
  const file = path.join(temporaryDirectory(), 'some.txt');
  writeFileSync(file, content);
  return file;
}

describe('a text file', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN';

  test('becomes windows that overlap by one token, in shards', async () => {
    const directory = fileOf(letters);
    const inputs = inputsOf(4);
    // 36 letters to train: 11 windows of 3 predictions; 4 to test: one.
    expect(text.inspect({ directory, inputs })).toMatchObject({ train: 11, test: 1 });
    const shards = await Promise.all(
      [0, 1].map((rank) => text.open({ directory, inputs, rank, world: 2 })),
    );
    expect(shards.map(({ train }) => windowsOf(train, 4))).toEqual([
      ['abcd', 'ghij', 'mnop', 'stuv', 'yzAB'],
      ['defg', 'jklm', 'pqrs', 'vwxy', 'BCDE'],
    ]);
    expect(shards.map(({ test: part }) => windowsOf(part, 4))).toEqual([['KLMN'], []]);
  });

  test('is read byte by byte, whatever is in it', async () => {
    const directory = temporaryDirectory();
    writeFileSync(path.join(directory, 'b.txt'), 'ö'.repeat(10));
    writeFileSync(path.join(directory, 'a.txt'), Buffer.from([0, 255, 10, 13]));
    writeFileSync(path.join(directory, 'notes.md'), 'not this one');
    const inputs = inputsOf(2);
    expect(text.inspect({ directory, inputs })).toMatchObject({ train: 20, test: 2 });
    const { train } = await text.open({ directory, inputs, rank: 0, world: 1 });
    expect(windowsOf(train, 2).slice(0, 4)).toEqual(['\0ÿ', 'ÿ\n', '\n\r', '\rÃ']);
  });

  test.each([
    ['DATA_DIRECTORY_MISSING', () => undefined, /text needs a file/],
    ['DATA_DIRECTORY_MISSING', () => '/nowhere/at/all.txt', /does not exist/],
    ['DATA_FILE_MISSING', temporaryDirectory, /has no \.txt file/],
    [
      'DATA_TOO_FEW_SAMPLES',
      () => fileOf('short'),
      /5 tokens are too few for a training and a test window of 17/,
    ],
    ['DATA_TOO_FEW_SAMPLES', () => fileOf(''), /0 tokens/],
  ])('%s', (code, place, message) => {
    const directory = place();
    expect(() => text.inspect({ directory, inputs: inputsOf(17) })).toThrow(
      expect.objectContaining({
        code,
        kind: 'input',
        message: expect.stringMatching(message) as string,
      }),
    );
  });

  test('a directory of directories has no text', () => {
    const directory = temporaryDirectory();
    mkdirSync(path.join(directory, 'sub'));
    expect(() => text.inspect({ directory, inputs: inputsOf(2) })).toThrow(
      expect.objectContaining({ code: 'DATA_FILE_MISSING' }),
    );
  });
});

describe('the embedded sentences', () => {
  test('are the same 200,000 bytes each time, all of them ASCII', () => {
    const bytes = writeSentences();
    expect(bytes).toEqual(writeSentences());
    expect(bytes).toHaveLength(200_000);
    expect(bytes.every((byte) => byte < 128)).toBe(true);
    expect(Buffer.from(bytes).toString()).toMatch(
      /^((an?|the) ([a-z]+ ){2,}[a-z ]+\.\n){100}/,
    );
  });

  test('have as many windows as they say', async () => {
    const inputs = inputsOf(17);
    const { train, test: rest } = await sentences.open({ inputs, rank: 0, world: 1 });
    expect(sentences.inspect({ inputs })).toMatchObject({
      train: train.count,
      test: rest.count,
    });
  });
});
