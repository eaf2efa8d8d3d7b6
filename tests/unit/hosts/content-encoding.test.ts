/** What browsers and other clients say they accept, and what they are given for it. */
import { expect, it } from 'vitest';
import { acceptedEncodings } from '../../../src/main/web/content-encoding.ts';

it.each<[string | undefined, string[]]>([
  // As Chromium, Firefox, curl, and Node send it.
  ['gzip, deflate, br, zstd', ['br', 'gzip']],
  ['gzip, deflate', ['gzip']],
  [undefined, []],
  ['gzip, deflate, br', ['br', 'gzip']],
  ['', []],
  ['*', ['br', 'gzip']],
  ['*;q=0', []],
  ['br;q=0, *', ['gzip']],
  ['GZIP', ['gzip']],
  ['gzip;q=0', []],
  ['gzip;q=0.000', []],
  ['br;q=0.5, gzip;q=0.8', ['gzip', 'br']],
  ['br ; q=0.5 , gzip ; q=0.5', ['br', 'gzip']],
  ['identity', []],
  ['identity, br;q=0.5', []],
  ['identity;q=0.5, gzip', ['gzip']],
  ['identity;q=0, gzip;q=0.1', ['gzip']],
  ['brotli, x-br, bra', []],
  ['gzip;q=much', []],
  ['gzip;q=-1', []],
  [',,;q=1,', []],
])('Accept-Encoding %j allows %j', (header, names) => {
  expect(acceptedEncodings(header).map(({ name }) => name)).toEqual(names);
});
