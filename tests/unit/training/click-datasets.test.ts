import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { allocateBatch } from '../../../src/agent/training/batches/batch.ts';
import { clicks, clicksLarge } from '../../../src/agent/training/datasets/clicks.ts';
import { criteo } from '../../../src/agent/training/datasets/criteo.ts';
import { csv } from '../../../src/agent/training/datasets/csv.ts';
import type {
  Dataset,
  Samples,
  ShardRequest,
} from '../../../src/agent/training/datasets/dataset.ts';
import { murmurHash } from '../../../src/agent/training/datasets/murmur-hash.ts';
import { temporaryDirectory } from './idx-fixtures.ts';
import { realDataWith } from '../../harness/real-data.ts';

const ROWS = 1000;

function fileOf(content: string | Uint8Array, name = 'clicks.data'): string {
  const file = path.join(temporaryDirectory(), name);
  writeFileSync(file, content);
  return file;
}

/** One sample, as models get it. */
interface Row {
  readonly label: number;
  readonly dense: readonly number[];
  readonly categories: readonly number[];
  readonly features: readonly number[];
  readonly values: readonly number[];
}

function rowsOf(part: Samples): Row[] {
  const rows = Uint32Array.from({ length: part.count }, (_, i) => i);
  const batch = allocateBatch(
    {
      dense: { type: 'f32', shape: [13] },
      categories: { type: 'i32', shape: [26] },
      features: { type: 'i32', shape: [39] },
      values: { type: 'f32', shape: [39] },
      labels: { type: 'i32', shape: [] },
    },
    rows.length,
  );
  // As a batch before would have left them.
  for (const values of Object.values(batch)) values.fill(99);
  part.read(rows, batch);
  const of = (name: string, row: number, width: number): number[] => [
    ...batch[name]!.subarray(row * width, (row + 1) * width),
  ];
  return Array.from(rows, (_, row) => ({
    label: batch['labels']![row]!,
    dense: of('dense', row, 13),
    categories: of('categories', row, 26),
    features: of('features', row, 39),
    values: of('values', row, 39),
  }));
}

async function partsOf(dataset: Dataset, given: Partial<ShardRequest> = {}) {
  const shard = await dataset.open({
    ...{ inputs: {}, features: ROWS, rank: 0, world: 1 },
    ...given,
  });
  return { train: rowsOf(shard.train), test: rowsOf(shard.test) };
}

const log = (number: number): number => Math.fround(Math.log1p(number));
/** What the hash must make of a category, from the definition of a row. */
const row = (text: string, column: number): number =>
  13 + (murmurHash(Buffer.from(text), column) % (ROWS - 13));

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

describe('a CSV file', () => {
  const content = [
    '\uFEFFage, city ,label,"note, ""quoted"""',
    '41, Zürich,no,"two',
    'lines, one value"',
    '',
    '-3.5e1,"a, b",yes,',
    ',,no,plain',
  ].join('\n');

  it('is read with quotes, blanks, line ends in values and what is empty', async () => {
    const directory = fileOf(content);
    expect(csv.inspect({ directory, inputs: {} })).toEqual({
      train: 3,
      test: 0,
      notice:
        'class 0 is "no", class 1 is "yes"; numbers: age; categories: city, ' +
        'note, "quoted"; every tenth sample is used for testing.',
    });
    const { train } = await partsOf(csv, { directory });
    expect(train.map(({ label }) => label)).toEqual([0, 1, 0]);
    expect(train.map(({ dense }) => dense[0])).toEqual([
      ...[log(41), Math.fround(-Math.log1p(35)), 0],
    ]);
    expect(train.map(({ categories }) => categories.slice(0, 2))).toEqual([
      [row('Zürich', 0), row('two\nlines, one value', 1)],
      [row('a, b', 0), row('', 1)],
      [row('', 0), row('plain', 1)],
    ]);
    // Columns that there are not.
    expect(train[0]!.dense.slice(1)).toEqual(Array(12).fill(0));
    expect(train[0]!.categories[25]).toBe(row('', 25));
  });

  it.each([';', '\t'])(
    'may have %j between its values, and be gzipped',
    async (mark) => {
      const lines = ['label,x', '0,"1,5"', '1,2'].map((text) =>
        text.replaceAll(/,(?!5)/g, mark),
      );
      const directory = fileOf(gzipSync(lines.join('\r\n')), 'some.csv.gz');
      const { train } = await partsOf(csv, { directory });
      expect(train.map(({ categories }) => categories[0])).toEqual([
        ...[row('1,5', 0), row('2', 0)],
      ]);
    },
  );

  it('has the columns that the spec names, in its order', async () => {
    const directory = fileOf('a,b,c,d\n1,2,3,0\n4,5,6,1\n');
    const columns = { label: 'd', numeric: ['c'], categorical: ['b', 'a'] };
    const { train } = await partsOf(csv, { directory, columns });
    expect(train.map(({ label }) => label)).toEqual([0, 1]);
    expect(train.map(({ dense }) => dense.slice(0, 2))).toEqual([
      [log(3), 0],
      [log(6), 0],
    ]);
    expect(train[0]!.categories.slice(0, 3)).toEqual([
      ...[row('2', 0), row('1', 1), row('', 2)],
    ]);
    // Without lists, what is a number is one; with one list nothing else is used.
    const notice = (given: object) =>
      csv.inspect({ directory, inputs: {}, columns: { label: 'd', ...given } }).notice;
    expect(notice({})).toContain('numbers: a, b, c; categories: none');
    expect(notice({ categorical: ['a'] })).toContain('numbers: none; categories: a;');
  });

  it('has its test part beside it, whose columns may stand in another order', async () => {
    const directory = fileOf('label,x,y\n0,5,u\n1,6,v\n');
    writeFileSync(`${directory}.t`, 'y,label,x\nu,1,7\n');
    const { train, test: part } = await partsOf(csv, { directory });
    expect(train).toHaveLength(2);
    expect(part[0]).toMatchObject({ label: 1 });
    expect(part[0]!.dense[0]).toBe(log(7));
    expect(part[0]!.categories[0]).toBe(row('u', 0));
  });

  it('with a line that has no end is refused, gzipped or not', () => {
    const endless = Buffer.alloc(80_000_000, 'x');
    for (const file of [fileOf(endless), fileOf(gzipSync(endless), 'x.gz')]) {
      expect(() => csv.inspect({ directory: file, inputs: {} })).toThrow(
        expect.objectContaining({ code: 'DATA_MISMATCH', place: `${file}:1` }),
      );
    }
  });

  it('with what begins as a very long number is read', async () => {
    const long = `${'7'.repeat(1_000_000)}x`;
    const directory = fileOf(`label,x\n0,${long}\n1,2\n`);
    const { train, test: part } = await partsOf(csv, { directory });
    expect([...train, ...part].map(({ categories }) => categories[0])).toContain(
      row(long, 0),
    );
  });

  it('of more than a block is read as a whole, and errors name the line', async () => {
    const lines = Array.from(
      { length: 30_000 },
      (_, i) => `${i % 2},"v ""${i}"" w",${i}`,
    );
    const directory = fileOf(['label,text,n', ...lines].join('\n'));
    const { train, test: part } = await partsOf(csv, { directory });
    expect(train.length + part.length).toBe(30_000);
    expect(part[7]!.categories[0]).toBe(row('v "79" w', 0));
    expect(part[7]!.dense[0]).toBe(log(79));
    lines[29_000] = '0,"a"b,1';
    const bad = fileOf(['label,text,n', ...lines].join('\n'));
    expect(() => csv.inspect({ directory: bad, inputs: {} })).toThrow(
      expect.objectContaining({ place: `${bad}:29002` }),
    );
  });

  it.each([
    ['label,x\n0,1\n1,2,3\n', ':3', '3 columns, expected 2, as the first line has'],
    ['label,x\n0,1\n1\n', ':3', '1 columns, expected 2'],
    [
      'label,x\n0,1\n1,2\nmaybe,3\n',
      ':4',
      '"maybe", after "0" and "1" in earlier lines',
    ],
    ['label,x\n0,1\n\n1,"2\n', ':4', 'a quote is opened but not closed'],
    ['label,x\n0,1\n1,a"b\n', ':3', 'column 2: a quote within a value'],
    ['label,,x\n0,1,2\n', ':1', 'column 2 has no name'],
    ['label,x,x\n0,1,2\n', ':1', 'column 3 repeats the name "x"'],
    ['label,x\n1,1\n1,2\n', '', 'has only "1" in the column "label"'],
    ['label,x\n', '', 'has no samples'],
    ['label\n0\n1\n', '', 'has no column besides the label'],
  ])('says where %j is wrong', (text, where, message) => {
    const directory = fileOf(text);
    expect(() => csv.inspect({ directory, inputs: {} })).toThrow(
      expect.objectContaining({
        code: 'DATA_MISMATCH',
        kind: 'input',
        place: directory + where,
        message: expect.stringContaining(message) as string,
      }),
    );
  });

  it('says which value is no number, where the spec says that it is one', async () => {
    const directory = fileOf('label,x\n0,1\n1,?\n');
    const columns = { numeric: ['x'] };
    await expect(partsOf(csv, { directory, columns })).rejects.toMatchObject({
      place: `${directory}:3`,
      message: `${directory}, line 3: column "x": "?", expected a number`,
    });
  });

  it.each([
    ['label,x\n0,1\n1,?\n', 'label,x\n0,1\n', '', 'column "x": "?", expected a number'],
    [
      'label,x\n0,1\n1,2\n',
      'label,x\n0,?\n',
      '.t',
      'column "x": "?", expected a number',
    ],
    [
      'label,x\n0,1\n1,2\n',
      'label,x\n0,1\n2,1\n',
      '.t',
      'column "label": "2", expected "0" or "1"',
    ],
    ['label,x\n0,1\n1,2\n', 'label,z\n0,1\n', '.t', 'has no column "x"'],
  ])('finds before the start what ranks would find: %j, tested on %j', (...given) => {
    const [train, test, suffix, message] = given;
    const directory = fileOf(train);
    writeFileSync(`${directory}.t`, test);
    const columns = { numeric: ['x'] };
    expect(() => csv.inspect({ directory, columns, inputs: {} })).toThrow(
      expect.objectContaining({
        kind: 'input',
        message: expect.stringContaining(message) as string,
      }),
    );
    expect(() => csv.inspect({ directory, columns, inputs: {} })).toThrow(
      `${directory}${suffix}`,
    );
  });

  const many = (length: number): string[] => Array.from({ length }, (_, i) => `c${i}`);
  it.each([
    [{ label: 'lable' }, 'COLUMN_UNKNOWN', 'Did you mean "label"?'],
    [{ numeric: ['c0', 'd0'] }, 'COLUMN_UNKNOWN', 'Did you mean'],
    [{ numeric: ['c0'], categorical: ['c0'] }, 'COLUMN_REPEATED', 'once'],
    [{ categorical: ['label'] }, 'COLUMN_REPEATED', 'once'],
    [{}, 'COLUMNS_TOO_MANY', 'Name the columns to use'],
    [{ categorical: many(27) }, 'COLUMNS_TOO_MANY', 'Name the columns to use'],
  ])('has no use for %j', (columns, code, next) => {
    const names = many(27);
    const lines = [0, 1].map((label) => [label, ...names.map(() => 1)].join(','));
    const directory = fileOf([['label', ...names].join(','), ...lines].join('\n'));
    expect(() => csv.inspect({ directory, columns, inputs: {} })).toThrow(
      expect.objectContaining({ code, next: expect.stringContaining(next) as string }),
    );
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

const real = realDataWith('adult.data.gz');
test.skipIf(real === undefined)('Adult is read whole', async () => {
  const directory = path.join(real!, 'adult.data.gz');
  const { train, test: part } = await partsOf(csv, {
    ...{ directory, columns: { label: 'income' } },
  });
  const all = [...train, ...part];
  // UCI's own figures: 32,561 samples, of which 7,841 earn more than 50,000.
  expect(all).toHaveLength(32_561);
  expect(all.filter(({ label }) => label === 1)).toHaveLength(7841);
  expect(train[0]!.dense.slice(0, 6)).toEqual([39, 77_516, 13, 2174, 0, 40].map(log));
  expect(train[0]!.categories[0]).toBe(row('State-gov', 0));
});
