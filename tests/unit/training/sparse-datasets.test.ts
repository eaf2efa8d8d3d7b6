import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import type { Dataset } from '../../../src/agent/training/datasets/dataset.ts';
import { sparse } from '../../../src/agent/training/datasets/sparse.ts';
import { svmlight } from '../../../src/agent/training/datasets/svmlight.ts';
import { trigrams, trigramsOf } from '../../../src/agent/training/datasets/trigrams.ts';
import { temporaryDirectory } from './idx-fixtures.ts';
import type { PlainSample } from './linear-reference.ts';
import { samplesOf } from './sparse-rows.ts';
import { realDataWith } from '../../harness/real-data.ts';

function fileOf(content: string | Uint8Array, name = 'some.data'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, content);
  return file;
}

interface Parts {
  readonly train: readonly PlainSample[];
  readonly test: readonly PlainSample[];
}

async function partsOf(
  dataset: Dataset,
  directory?: string,
  { features, rank = 0, world = 1 }: Partial<Record<string, number>> = {},
): Promise<Parts> {
  const shard = await dataset.open({ inputs: {}, directory, features, rank, world });
  return {
    train: samplesOf(shard, shard.train),
    test: samplesOf(shard, shard.test),
  };
}

const one = (label: number, pairs: Record<number, number>): PlainSample => ({
  label,
  features: Object.keys(pairs).map(Number),
  values: Object.values(pairs),
});

describe('a file in the format of SVMlight', () => {
  const content = [
    '# made by hand',
    '+1 qid:3 0:0.5 7:-2 # the first',
    '',
    '  -1\t1:1e-3   12:+3\r',
    '-1.0',
    '1.0 4:1',
  ].join('\n');
  const expected = [
    one(1, { 0: 0.5, 7: -2 }),
    one(0, { 1: Math.fround(1e-3), 12: 3 }),
    one(0, {}),
    one(1, { 4: 1 }),
  ];

  it('is read with comments, queries, blanks and samples without features', async () => {
    const file = fileOf(content);
    expect(svmlight.features!(file)).toBe(13);
    expect(svmlight.inspect({ directory: file, inputs: {} })).toMatchObject({
      train: 4,
      test: 0,
    });
    expect(await partsOf(svmlight, file)).toEqual({ train: expected, test: [] });
  });

  it('may be gzipped', async () => {
    const file = fileOf(gzipSync(content), 'some.gz');
    expect((await partsOf(svmlight, file)).train).toEqual(expected);
  });

  it('has its test part beside it, where there is one', async () => {
    const file = fileOf(content);
    writeFileSync(`${file}.t`, '-1 20:1\n');
    expect(svmlight.features!(file)).toBe(21);
    expect(svmlight.inspect({ directory: file, inputs: {} })).toMatchObject({
      train: 4,
      test: 1,
      bytes: 16 * 5 + 12 * 6,
    });
    expect((await partsOf(svmlight, file)).test).toEqual([one(0, { 20: 1 })]);
  });

  it('else every tenth sample is for testing, and ranks share both parts', async () => {
    const lines = Array.from({ length: 47 }, (_, i) => `1 ${i}:1`);
    const file = fileOf(lines.join('\n'));
    const shards = await Promise.all(
      [0, 1, 2].map((rank) => partsOf(svmlight, file, { rank, world: 3 })),
    );
    const names = (samples: readonly PlainSample[]): number[] =>
      samples.map(({ features }) => features[0]!);
    expect(shards.flatMap((parts) => names(parts.test)).sort((a, b) => a - b)).toEqual([
      9, 19, 29, 39,
    ]);
    const train = shards.map((parts) => names(parts.train));
    expect(train.map(({ length }) => length)).toEqual([14, 14, 14]);
    // 43 for training: the last belongs to nobody, or shards would differ in length.
    const all = Array.from({ length: 47 }, (_, i) => i).filter((i) => i % 10 !== 9);
    expect(train.flat().sort((a, b) => a - b)).toEqual(all.slice(0, 42));
  });

  it('is read again when it has changed', () => {
    const file = fileOf('1 1:1\n');
    expect(svmlight.features!(file)).toBe(2);
    writeFileSync(file, '1 1:1\n0 500:1\n');
    expect(svmlight.features!(file)).toBe(501);
  });

  it.each([
    ['2 1:1', 'label "2", expected −1, 0 or 1'],
    ['spam 1:1', 'label "spam"'],
    ['1 a:1', '"a:1", expected feature:value'],
    ['1 1', '"1", expected feature:value'],
    ['1 :3', '":3"'],
    ['1 3:', '"3:"'],
    ['1 -3:1', '"-3:1"'],
    ['1 1.5:1', '"1.5:1"'],
    ['1 3:nan', '"3:nan"'],
    ['1 3:inf', '"3:inf"'],
    ['1 4000000000:1', 'with a feature of at most 1073741823'],
  ])('says where %j is wrong', (line, message) => {
    const file = fileOf(`1 1:1\n${line}\n`);
    expect(() => svmlight.inspect({ directory: file, inputs: {} })).toThrow(
      expect.objectContaining({
        ...{ code: 'DATA_MISMATCH', kind: 'input', place: `${file}:2` },
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('has no more features than the spec says', async () => {
    const file = fileOf('1 1:1\n0 5:1\n');
    await expect(partsOf(svmlight, file, { features: 5 })).rejects.toMatchObject({
      ...{ code: 'DATA_MISMATCH', place: `${file}:2` },
      message: expect.stringContaining('feature 5') as string,
    });
  });

  it('must be there, and be a file', () => {
    const directory = temporaryDirectory();
    mkdirSync(path.join(directory, 'sub'));
    for (const place of [undefined, directory, path.join(directory, 'none')]) {
      expect(() => svmlight.features!(place)).toThrow(
        expect.objectContaining({
          code: 'DATA_DIRECTORY_MISSING',
          place: 'workload.data',
        }),
      );
    }
  });
});

describe('a file of labelled texts', () => {
  const rows = ['ham\tabcabc', 'spam\tab', 'ham\tété', 'spam\tabcd'];

  it('becomes trigrams of bytes, counted, of length 1', async () => {
    const { features } = trigrams;
    expect(features!(undefined)).toBe(2 ** 24);
    const { train } = await partsOf(trigrams, fileOf(rows.join('\n')));
    expect(train.map(({ label }) => label)).toEqual([0, 1, 0, 1]);
    // abc twice, bca, cab.
    const root = Math.fround(1 / Math.sqrt(6));
    expect(train[0]!.values.toSorted()).toEqual([
      root,
      root,
      Math.fround(2 * (1 / Math.sqrt(6))),
    ]);
    expect(train[1]!.features).toEqual([]);
    // é is two bytes: five bytes, three trigrams.
    expect(train[2]!.features).toHaveLength(3);
    // abc is the same feature in both.
    const shared = train[3]!.features.filter((f) => train[0]!.features.includes(f));
    expect(shared).toHaveLength(1);
  });

  it('has a header if the first label occurs only once', async () => {
    const file = fileOf(['Label\tText', ...rows].join('\n'));
    const { train } = await partsOf(trigrams, file);
    expect(train).toHaveLength(4);
    expect(trigrams.inspect({ directory: file, inputs: {} })).toMatchObject({
      notice: expect.stringContaining('class 0 is "ham", class 1 is "spam"') as string,
    });
  });

  it.each([
    ['ham\ta\nham\tb', 'has 1 labels ("ham"), expected two'],
    ['a\tx\nb\tx\na\tx\nb\tx\nc\tx\nc\tx', 'has 3 labels'],
    ['a\tx\nb\tx\na\tx\nb\tx\nc\tx', 'line 5: no other line has the label "c"'],
    ['a\tx\nb\tx\nc\tx\nd\tx\ne\tx', 'has more than 3 labels'],
    ['a\tx\nno tabulator\n', 'line 2: no label'],
  ])('%j is refused', (content, message) => {
    expect(() => trigrams.inspect({ directory: fileOf(content), inputs: {} })).toThrow(
      expect.objectContaining({
        code: 'DATA_MISMATCH',
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('has no feature beyond those that there are', () => {
    const text = Uint8Array.from({ length: 5000 }, (_, i) => (i * i) % 251);
    for (const features of [1, 7, 1000]) {
      const { features: used, values } = trigramsOf(text, features);
      expect(Math.max(...Array.from(used))).toBeLessThan(features);
      expect(new Set(Array.from(used)).size).toBe(used.length);
      expect(Math.hypot(...Array.from(values))).toBeCloseTo(1, 12);
    }
  });
});

it(
  'takes a text of more trigrams than a call takes arguments',
  { tags: 'soak' },
  () => {
    // Each three bytes in a row are another number.
    const text = Uint8Array.from({ length: 600_000 }, (_, i) => {
      const number = Math.floor(i / 3);
      return [number >> 16, number >> 8, number][i % 3]! & 255;
    });
    const { features } = trigramsOf(text, 2 ** 24);
    expect(features.length).toBeGreaterThan(130_000);
  },
);

describe('the embedded sparse samples', () => {
  it('are the same however they are shared, and the classes are about equal', async () => {
    const whole = await partsOf(sparse);
    expect(whole.train).toHaveLength(9000);
    expect(whole.test).toHaveLength(1000);
    const [first, second] = await Promise.all(
      [0, 1].map((rank) => partsOf(sparse, undefined, { rank, world: 2 })),
    );
    expect(first!.train.slice(0, 50)).toEqual(
      whole.train.filter((_, i) => i % 2 === 0).slice(0, 50),
    );
    expect(second!.test.slice(0, 50)).toEqual(
      whole.test.filter((_, i) => i % 2 === 1).slice(0, 50),
    );
    const positive = whole.train.filter(({ label }) => label === 1).length;
    expect(Math.abs(positive / 9000 - 0.5)).toBeLessThan(0.1);
    for (const { features } of whole.train.slice(0, 100)) {
      expect(features).toHaveLength(40);
      expect(Math.max(...features)).toBeLessThan(2 ** 16);
    }
  });

  it('fit in as few features as the spec says', async () => {
    const { train } = await partsOf(sparse, undefined, { features: 10 });
    expect(Math.max(...train.flatMap(({ features }) => features))).toBeLessThan(10);
  });
});

const real = realDataWith('a9a.txt');

test.skipIf(real === undefined)('a9a and the messages are read whole', async () => {
  const a9a = path.join(real!, 'a9a.txt');
  expect(svmlight.features!(a9a)).toBe(123);
  const samples = await partsOf(svmlight, a9a);
  const all = [...samples.train, ...samples.test];
  expect(all).toHaveLength(16_281);
  // Counted in another way.
  const text = readFileSync(a9a, 'latin1');
  const pairs = text.split(':').length - 1;
  expect(all.reduce((sum, { features }) => sum + features.length, 0)).toBe(pairs);
  expect(all.filter(({ label }) => label === 1)).toHaveLength(
    text.split('\n').filter((line) => line.startsWith('+1')).length,
  );
  const messages = await partsOf(trigrams, path.join(real!, 'sms.tsv'));
  expect(messages.train.length + messages.test.length).toBe(5574);
});
