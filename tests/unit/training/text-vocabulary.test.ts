import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import type { Dataset, Samples } from '../../../src/agent/training/datasets/dataset.ts';
import { textCharacters } from '../../../src/agent/training/datasets/text-characters.ts';
import { textWords } from '../../../src/agent/training/datasets/text-words.ts';
import { text } from '../../../src/agent/training/datasets/text.ts';
import { checkWorkload } from '../../../src/agent/training/check-workload.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { temporaryDirectory } from './idx-fixtures.ts';
import { realDataWith } from '../../harness/real-data.ts';

const inputsOf = (length: number, below: number) => ({
  tokens: { type: 'i32' as const, shape: [length], below },
});

function directoryOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const directory = temporaryDirectory();
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(path.join(directory, name), content);
  }
  return directory;
}

/** The tokens of a part, of windows of two: each token and the next. */
function tokensOf(samples: Samples): number[] {
  const rows = Uint32Array.from({ length: samples.count }, (_, i) => i);
  const batch = allocateBatch(inputsOf(2, 1), rows.length);
  samples.read(rows, batch);
  const tokens = [...batch['tokens']!];
  return [...tokens.filter((_, i) => i % 2 === 0), tokens.at(-1)!];
}

async function partsOf(dataset: Dataset, directory: string, below: number) {
  const inputs = inputsOf(2, below);
  const shards = await dataset.open({ directory, inputs, rank: 0, world: 1 });
  return { train: tokensOf(shards.train), test: tokensOf(shards.test) };
}

describe('characters', () => {
  test('are numbered by how often they occur, then by code points', async () => {
    // 18 code points to train on; the two behind are for testing. In UTF-16, 🙂 (U+1F642)
    // would come before ﬁ (U+FB01).
    const directory = directoryOf({ 'a.txt': `${'ccc🙂ﬁbbaa'.repeat(2)}xa` });
    expect(await partsOf(textCharacters, directory, 6)).toEqual({
      train: [1, 1, 1, 5, 4, 3, 3, 2, 2, 1, 1, 1, 5, 4, 3, 3, 2, 2],
      // x was not among them.
      test: [0, 2],
    });
    expect(textCharacters.inspect({ directory, inputs: inputsOf(2, 6) })).toMatchObject(
      {
        train: 17,
        test: 1,
        notice:
          '5 of 5 different characters are known; 0 % of the training characters and ' +
          '50.0 % of the test characters are unknown.',
      },
    );
  });

  test('that are more than the model knows are refused, with both numbers', () => {
    const directory = directoryOf({ 'a.txt': 'ccc🙂ﬁbbaa'.repeat(3) });
    expect(() => textCharacters.inspect({ directory, inputs: inputsOf(2, 5) })).toThrow(
      expect.objectContaining({
        code: 'VOCABULARY_OVERFLOW',
        kind: 'input',
        place: directory,
        message:
          'the training text has 5 different characters, 6 with the unknown ' +
          'one, but the model knows 5',
      }),
    );
  });

  test('are those of UTF-8', () => {
    const directory = directoryOf({ 'a.txt': Uint8Array.of(97, 255, 97, 97, 97) });
    expect(() => textCharacters.inspect({ directory, inputs: inputsOf(2, 9) })).toThrow(
      expect.objectContaining({
        ...{ code: 'DATA_MISMATCH', place: `${path.join(directory, 'a.txt')}:1:2` },
      }),
    );
  });

  test('are counted again if the text has changed', () => {
    const directory = directoryOf({ 'a.txt': 'abc'.repeat(20) });
    const look = () => textCharacters.inspect({ directory, inputs: inputsOf(2, 9) });
    expect(look().notice).toMatch(/^3 of 3 /);
    writeFileSync(path.join(directory, 'a.txt'), 'abcd'.repeat(20));
    expect(look().notice).toMatch(/^4 of 4 /);
  });
});

/** As Mikolov's files of the Penn Treebank: blanks around, `<unk>`, a line for each sentence. */
const ptb = {
  'ptb.train.txt': ' the <unk> sat \n the cat sat <unk> \n',
  'ptb.valid.txt': ' not this one \n',
  'ptb.test.txt': ' a cat \n <unk> dog \n',
};

describe('words', () => {
  test('of a Penn Treebank: its own parts, ends of lines, and its own <unk>', async () => {
    const directory = directoryOf(ptb);
    // <eos> 1, sat 2, the 3, cat 4: with <unk> five different tokens.
    expect(await partsOf(textWords, directory, 5)).toEqual({
      train: [3, 0, 2, 1, 3, 4, 2, 0, 1],
      test: [0, 4, 1, 0, 0, 1],
    });
    expect(textWords.inspect({ directory, inputs: inputsOf(2, 5) })).toMatchObject({
      train: 8,
      test: 5,
      notice:
        'ptb.train.txt to train, ptb.test.txt to test, ptb.valid.txt left out. ' +
        '4 of 4 different words are known; 22.2 % of the training words and ' +
        '50.0 % of the test words are unknown.',
    });
  });

  test('that are rare become unknown where a model knows fewer', async () => {
    const { train, test: rest } = await partsOf(textWords, directoryOf(ptb), 3);
    expect(train).toEqual([0, 0, 2, 1, 0, 0, 2, 0, 1]);
    expect(rest).toEqual([0, 0, 1, 0, 0, 1]);
  });

  test('are the same numbers on all ranks', async () => {
    const directory = directoryOf({ 'a.txt': 'one two two three\n'.repeat(30) });
    const inputs = inputsOf(2, 9);
    const whole = await textWords.open({ directory, inputs, rank: 0, world: 1 });
    const parts = await Promise.all(
      [0, 1].map((rank) => textWords.open({ directory, inputs, rank, world: 2 })),
    );
    const windows = (samples: Samples): number[][] =>
      Array.from({ length: samples.count }, (_, row) => {
        const batch = allocateBatch(inputs, 1);
        samples.read(Uint32Array.of(row), batch);
        return [...batch['tokens']!];
      });
    const dealt = parts.map(({ train }) => windows(train));
    const all = windows(whole.train).slice(0, 2 * dealt[0]!.length);
    expect(all).toEqual(dealt[0]!.flatMap((one, i) => [one, dealt[1]![i]!]));
  });
});

test('the bytes of a directory with parts are split by the names as well', () => {
  const directory = directoryOf({ 'train.txt': 'abcdef', 'test.txt': 'abc' });
  expect(text.inspect({ directory, inputs: inputsOf(2, 256) })).toMatchObject({
    train: 5,
    test: 2,
    notice: 'train.txt to train, test.txt to test.',
  });
});

test('without a file to test, the one to validate is', () => {
  const directory = directoryOf({ 'a.train.txt': 'abcdef', 'a.valid.txt': 'abc' });
  expect(text.inspect({ directory, inputs: inputsOf(2, 256) })).toMatchObject({
    train: 5,
    test: 2,
  });
});

const real = realDataWith('tinyshakespeare.txt');

describe.skipIf(real === undefined)('Tiny Shakespeare', () => {
  const check = (workload: Record<string, unknown>) => {
    const spec = parseExperimentSpec({
      workload: { data: path.join(real!, 'tinyshakespeare.txt'), ...workload },
    });
    return checkWorkload(spec.workload, spec.optimizer, 2);
  };

  test('has as many characters and words as a count by hand gives', () => {
    // Counted in Python: set(text[:int(0.9 * len(text))]), and Counter of
    // re.findall(r'\n|\S+', text), of which the 9999 most frequent are known.
    expect(
      check({ model: 'transformer-small', dataset: 'text-characters' }),
    ).toMatchObject({
      train: 15_685,
      test: 1742,
      notice:
        '15,685 samples to train, 1,742 to test. 65 of 65 different characters are known; 0 % of the training characters and ' +
        '0 % of the test characters are unknown.',
    });
    expect(check({ model: 'lstm-ptb', dataset: 'text-words' })).toMatchObject({
      notice: expect.stringContaining(
        '9999 of 23864 different words are known; 6.35 % of the training words and ' +
          '13.0 % of the test words are unknown.',
      ) as string,
    });
  });
});
