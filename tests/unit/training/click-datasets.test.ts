/** Criteo's click logs and the embedded ones: what is read of them, and what is refused. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { clicks, clicksLarge } from '../../../src/agent/training/datasets/clicks.ts';
import { criteo } from '../../../src/agent/training/datasets/criteo.ts';
import { murmurHash } from '../../../src/agent/training/datasets/murmur-hash.ts';
import { fileOf, log, partsOf, row } from './click-rows.ts';

// Of the reference implementation in C++, as its users list them.
test.each([
  ['', 0, 0],
  ['', 1, 0x514e28b7],
  ['', 0xffffffff, 0x81f16f39],
  ['\xff\xff\xff\xff', 0, 0x76293b50],
  ['\x21\x43\x65\x87', 0, 0xf55b516b],
  ['\x21\x43\x65', 0, 0x7e4a8634],
  ['\x21\x43', 0, 0xa0f7b07a],
  ['\x21', 0, 0x72661cf4],
  ['aaaa', 0x9747b28c, 0x5a97808a],
  ['Hello, world!', 0x9747b28c, 0x24884cba],
  ['The quick brown fox jumps over the lazy dog', 0x9747b28c, 0x2fa826cd],
])('MurmurHash3 of %j with the seed %d', (text, seed, hash) => {
  expect(murmurHash(Buffer.from(text, 'latin1'), seed)).toBe(hash);
});

describe("Criteo's click logs", () => {
  const line = (label: string, numbers: string[], categories: string[]): string =>
    [
      label,
      ...Array.from({ length: 13 }, (_, i) => numbers[i] ?? ''),
      ...Array.from({ length: 26 }, (_, i) => categories[i] ?? ''),
    ].join('\t');
  const content = [
    line('1', ['3', '-2', '', '65535'], ['68fd1e64', '', '00000abc']),
    '',
    line('0', ['0'], ['68fd1e64', '68fd1e64']),
  ];

  it('are read with what is empty, negative or blank', async () => {
    const directory = fileOf(`${content.join('\r\n')}\r\n`);
    expect(criteo.inspect({ directory, inputs: {} })).toMatchObject({
      train: 2,
      test: 0,
    });
    const { train, test: part } = await partsOf(criteo, { directory });
    expect(part).toEqual([]);
    const [first, second] = train;
    expect([first!.label, second!.label]).toEqual([1, 0]);
    expect(first!.dense).toEqual([log(3), 0, 0, log(65535), ...Array(9).fill(0)]);
    expect(first!.categories.slice(0, 3)).toEqual([
      ...[row('68fd1e64', 0), row('', 1), row('00000abc', 2)],
    ]);
    // One category has rows of its own in each column.
    expect(second!.categories.slice(0, 2)).toEqual([
      ...[row('68fd1e64', 0), row('68fd1e64', 1)],
    ]);
    expect(second!.categories[0]).not.toBe(second!.categories[1]);
    // Linear models get columns of numbers as the first 13 features.
    expect(first!.features).toEqual([
      ...Array.from({ length: 13 }, (_, i) => i),
      ...first!.categories,
    ]);
    expect(first!.values).toEqual([...first!.dense, ...Array(26).fill(1)]);
  });

  it('may be gzipped, in several parts, and have a test part beside them', async () => {
    const zipped = content.map((text) => gzipSync(`${text}\n`));
    const directory = fileOf(Buffer.concat(zipped), 'day_0.gz');
    writeFileSync(`${directory}.t`, `${content[2]!}\n`);
    expect(criteo.inspect({ directory, inputs: {} })).toEqual({ train: 2, test: 1 });
    const { train, test: part } = await partsOf(criteo, { directory });
    expect(train.map(({ label }) => label)).toEqual([1, 0]);
    expect(part.map(({ label }) => label)).toEqual([0]);
  });

  it('that are gzipped and cut short say so', () => {
    const zipped = gzipSync(`${content.join('\n')}\n`.repeat(100));
    const file = fileOf(zipped.subarray(0, -12), 'day_1.gz');
    expect(() => criteo.inspect({ directory: file, inputs: {} })).toThrow(
      expect.objectContaining({
        code: 'DATA_FILE_UNREADABLE',
        place: file,
        message: expect.stringContaining('unexpected end of file') as string,
      }),
    );
  });

  it.each([
    [line('2', [], []), 'line 3: column 1: "2", expected a label of 0 or 1'],
    [line('', [], []), 'column 1: "", expected a label'],
    [line('1', [], []).slice(0, -1), '39 columns, expected 40'],
    [
      line('1', ['1', '2.5'], []),
      'column 3: "2.5", expected a whole number or nothing',
    ],
    [line('1', ['-'], []), 'column 2: "-", expected a whole number'],
    [line('1', ['9'.repeat(400)], []), 'expected a whole number or nothing'],
    [
      line('1', [], ['xyz']),
      'column 15: "xyz", expected at most 16 hexadecimal digits',
    ],
    [line('1', [], ['0'.repeat(17)]), 'column 15: "00000000000000000"'],
  ])('say where %j is wrong', async (bad, message) => {
    const directory = fileOf([content[0], content[2], bad].join('\n'));
    await expect(partsOf(criteo, { directory })).rejects.toMatchObject({
      ...{ code: 'DATA_MISMATCH', kind: 'input', place: `${directory}:3` },
      message: expect.stringContaining(message) as string,
    });
  });

  it.each([
    ['', 'has no samples'],
    [line('1', [], []), 'has only the label 1'],
    [line('0', [], []), 'has only the label 0'],
  ])('of one class are refused: %j', (text, message) => {
    const directory = fileOf(text);
    expect(() => criteo.inspect({ directory, inputs: {} })).toThrow(
      expect.objectContaining({
        code: 'DATA_MISMATCH',
        place: directory,
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('need a row for categories', () => {
    const directory = fileOf(content.join('\n'));
    expect(() => criteo.inspect({ directory, inputs: {}, features: 13 })).toThrow(
      expect.objectContaining({ code: 'FEATURES_TOO_FEW', place: 'workload.features' }),
    );
    expect(criteo.inspect({ directory, inputs: {}, features: 14 }).train).toBe(2);
  });
});

describe('the embedded clicks', () => {
  it('are the same however they are shared, and one in three is clicked', async () => {
    const whole = await partsOf(clicks);
    expect([whole.train.length, whole.test.length]).toEqual([18_000, 2000]);
    const [first, second] = await Promise.all(
      [0, 1].map((rank) => partsOf(clicks, { rank, world: 2 })),
    );
    expect([first!.train[0], second!.train[0], first!.train[1]]).toEqual(
      whole.train.slice(0, 3),
    );
    expect(second!.test.at(-1)).toEqual(whole.test.at(-1));
    const share = whole.train.filter(({ label }) => label === 1).length / 18_000;
    expect(share).toBeGreaterThan(0.3);
    expect(share).toBeLessThan(0.45);
  });

  it('are the first ones of a longer log, by whichever rank they are trained', async () => {
    const usual = await partsOf(clicks);
    const short = await partsOf(clicks, { samples: 1005 });
    const long = await partsOf(clicks, { samples: 30_000 });
    expect([short.train.length, short.test.length]).toEqual([905, 100]);
    expect([long.train.length, long.test.length]).toEqual([27_000, 3000]);
    expect(short.train).toEqual(usual.train.slice(0, 905));
    expect(short.test).toEqual(usual.test.slice(0, 100));
    expect(long.train.slice(0, 18_000)).toEqual(usual.train);
    expect(long.test.slice(0, 2000)).toEqual(usual.test);
    const second = await partsOf(clicks, { samples: 1005, rank: 1, world: 2 });
    expect(second.train).toEqual(
      short.train.filter((_, n) => n % 2 === 1).slice(0, 452),
    );
  });

  it('are in their order in the larger log, whose last quarter is for testing', async () => {
    const usual = await partsOf(clicks, { samples: 1000 });
    const large = await partsOf(clicksLarge, { samples: 1000 });
    expect([large.train.length, large.test.length]).toEqual([750, 250]);
    const all = [...large.train, ...large.test];
    expect(all.filter((_, n) => n % 10 === 9)).toEqual(usual.test);
    expect(all.filter((_, n) => n % 10 !== 9)).toEqual(usual.train);
  });
});
