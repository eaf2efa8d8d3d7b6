/** CSV files as data sets of clicks: what is read of them, and what is refused. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { csv } from '../../../src/agent/training/datasets/csv.ts';
import { realDataWith } from '../../harness/real-data.ts';
import { fileOf, log, partsOf, row } from './click-rows.ts';

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

const real = realDataWith('adult.data.gz');
test.skipIf(real === undefined)('Adult is read whole', async () => {
  const directory = path.join(real!, 'adult.data.gz');
  const { train, test: part } = await partsOf(csv, {
    directory,
    columns: { label: 'income' },
  });
  const all = [...train, ...part];
  // UCI's own figures: 32,561 samples, of which 7,841 earn more than 50,000.
  expect(all).toHaveLength(32_561);
  expect(all.filter(({ label }) => label === 1)).toHaveLength(7841);
  expect(train[0]!.dense.slice(0, 6)).toEqual([39, 77_516, 13, 2174, 0, 40].map(log));
  expect(train[0]!.categories[0]).toBe(row('State-gov', 0));
});
