import { expect, test } from 'vitest';
import { columnsThatFit, textTable } from '../../../src/cli/text/text-table.ts';

test('columns are as wide as what they show, which is no command to a terminal', () => {
  const rows = [
    ['name', 'labels'],
    ['box', 'a\u001b[2Jb\u0007'],
  ];
  expect(textTable(rows, ['left', 'right'])).toBe(
    'name         labels\nbox   a\\x1b[2Jb\\x07',
  );
});

test('a table that is to fit cuts its widest columns of text, and no number', () => {
  const rows = [
    ['id', 'summary', 'bytes'],
    ['a-long-identifier', 'many words that nobody needs to see at once', '123,456,789'],
  ];
  const align = ['left', 'left', 'right'] as const;
  for (const width of [60, 45, 36]) {
    const lines = textTable(rows, align, width).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBe(width);
    expect(lines[1]).toMatch(/… +123,456,789$/);
  }
  expect(textTable(rows, align, 200)).toBe(textTable(rows, align));
  expect(textTable(rows, align, 45, [0])).toContain('a-long-identifier');
  // There is no room for two columns of eight characters: it is as narrow as it can be.
  expect(textTable(rows, align, 10).split('\n')[1]).toBe(
    'a-long-…  many wo…  123,456,789',
  );
});

test('columns that can be done without go, in their order, until the rest fits', () => {
  const rows = [['id', 'a long text that can be cut', '123,456', '12,345,678']];
  const align = ['left', 'left', 'right', 'right'] as const;
  const fitting = (width?: number) => columnsThatFit(rows, align, width, [3, 1]);
  expect(fitting()).toEqual([0, 1, 2, 3]);
  expect(fitting(33)).toEqual([0, 1, 2, 3]);
  expect(fitting(32)).toEqual([0, 1, 2]);
  expect(fitting(12)).toEqual([0, 2]);
  expect(fitting(3)).toEqual([0, 2]);
});
