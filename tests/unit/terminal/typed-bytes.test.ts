/** Input from a page as bytes: text in UTF-8, and what is no text as it is. */
import { expect, test } from 'vitest';
import { typedBytes } from '../../../src/main/terminal/typed-bytes.ts';
import { escapedBytes } from '../../../src/shared/rpc/terminal.ts';

/** Text as the page's messages carry it. */
const carried = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

test('text is UTF-8', () => {
  for (const text of ['', 'ls -l\r', 'é ü 漢', '😀 done', '\x1b[A']) {
    expect(typedBytes(carried(text))).toEqual(Buffer.from(text));
  }
});

test('every byte of binary input comes as it is', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  expect(typedBytes(carried(escapedBytes(bytes.toString('latin1'))))).toEqual(bytes);
});

test('the mouse at column 100 is one byte', () => {
  const report = `\x1b[M${String.fromCharCode(32, 132, 40)}`;
  const typed = typedBytes(carried(`é${escapedBytes(report)}😀`));
  expect(typed.toString('hex')).toBe('c3a91b5b4d208428f09f9880');
});
