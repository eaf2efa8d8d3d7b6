/** Attempts at texts. */
import { gzipSync } from 'node:zlib';
import { directory, file, type Attempt, type Attempts } from './data-attempts.ts';
import { MARK, wide } from './data-samples.ts';

const tokens = (below: number): Attempt['request'] => ({
  inputs: { tokens: { type: 'i32', shape: [3], below } },
});
const TEXT = 'a text that is long enough for windows '.repeat(5);
const text = (
  dataset: string,
  content: string | Uint8Array,
  more: Partial<Attempt> = {},
) => file(dataset, content, { ...more, name: 'some.txt', request: tokens(256) });

export const texts: Attempts = {
  '`text`, `text-characters`, `text-words`': {
    '`text`: any bytes': [
      text('text', TEXT),
      text('text', wide(MARK + TEXT)),
      text('text', Buffer.from(TEXT.replaceAll('a', '\xe9'), 'latin1')),
    ],
    'characters or words of UTF-8, with a mark or without': [
      ...['', MARK].flatMap((mark) => [
        text('text-characters', mark + TEXT, { parts: [87, 9] }),
        text('text-words', mark + TEXT, { parts: [17, 1] }),
      ]),
    ],
    'characters or words of another encoding': [
      'text-characters',
      'text-words',
    ].flatMap((dataset) => [
      text(dataset, wide(MARK + TEXT), { says: 'some.txt is text in UTF-16' }),
      text(dataset, Buffer.from(`${TEXT}\n caf\xe9`, 'latin1'), {
        says: 'some.txt, line 2, column 5: the byte E9 is not UTF-8',
      }),
    ]),
    'characters or words with a zero byte': ['text-characters', 'text-words'].map(
      (dataset) => text(dataset, wide(TEXT), { says: 'line 1, column 2: a zero byte' }),
    ),
    'a gzipped or otherwise compressed text': [
      ...['text', 'text-characters', 'text-words'].flatMap((dataset) => [
        text(dataset, gzipSync(TEXT), { says: 'some.txt is gzipped' }),
        text(dataset, Buffer.from('BZh91AY&SY'.repeat(20)), { says: 'bzip2' }),
      ]),
    ],
    'a text too short for a window in each part': [
      text('text', 'ab'),
      text('text-characters', 'ab'),
      text('text-words', ''),
    ],
    'a directory without `.txt` files': [
      directory('text', { 'a.text': TEXT }),
      directory('text-words', { 'a.txt': 'DIRECTORY' }),
    ],
  },
};
