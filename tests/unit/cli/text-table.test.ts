import { expect, test } from 'vitest';
import { textTable } from '../../../src/cli/text/text-table.ts';

test('columns are as wide as what they show, which is no command to a terminal', () => {
  const rows = [
    ['name', 'labels'],
    ['box', 'a\u001b[2Jb\u0007'],
  ];
  expect(textTable(rows, ['left', 'right'])).toBe(
    'name         labels\nbox   a\\x1b[2Jb\\x07',
  );
});
