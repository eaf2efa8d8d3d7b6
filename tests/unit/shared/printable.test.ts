import { expect, test } from 'vitest';
import { escapeControls, isPrintable } from '../../../src/shared/words/printable.ts';

test.each([
  ['a cursor’s move', 'a\x1b[2Jb', 'a\\x1b[2Jb'],
  ['another order than it has', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ['a line’s end', 'a\u2028b\nc', 'a\\u2028b\\x0ac'],
  ['half a character', 'a\ud800b', 'a\\ud800b'],
])('%s is not shown as it is', (_, text, shown) => {
  expect(isPrintable(text)).toBe(false);
  expect(escapeControls(text)).toBe(shown);
});

test.each(['café', 'שלום', 'می\u200cخواهم', '👩\u200d🔬', 'a b'])(
  '%s is text',
  (text) => {
    expect(isPrintable(text)).toBe(true);
    expect(escapeControls(text)).toBe(text);
  },
);
