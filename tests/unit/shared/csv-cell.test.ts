import { expect, test } from 'vitest';
import { csvCell } from '../../../src/shared/words/csv-cell.ts';

test.each([
  [undefined, ''],
  [-1.5, '-1.5'],
  ['-1.5', '-1.5'],
  ['a, "b"', '"a, ""b"""'],
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-1+cmd|x', "'-1+cmd|x"],
])('%j is a value in a spreadsheet and no formula', (cell, text) => {
  expect(csvCell(cell)).toBe(text);
});
