/** Any text as a sequence of bytes: 256 tokens whatever the language, nothing to build or to miss. */
import { readFileSync } from 'node:fs';
import type { Dataset } from './dataset.ts';
import { bytesOf, readingText } from './text-files.ts';
import {
  cutLengths,
  cutText,
  windowCounts,
  windowLength,
  windowShards,
} from './token-windows.ts';

const BYTES = 256;
/** The longest text, as every rank reads all of it. */
const MOST_BYTES = 1_000_000_000;

export const text: Dataset = {
  id: 'text',
  title: 'Text',
  summary: 'A text file, or the .txt files of a directory, byte by byte',
  needsData: true,
  fields: { tokens: { type: 'i32', shape: ['any'], below: BYTES } },

  inspect: ({ directory, inputs }) =>
    readingText(directory, MOST_BYTES, ({ train, test, notice }, place) => {
      const bytes = bytesOf(train);
      const lengths =
        test === undefined ? cutLengths(bytes) : { train: bytes, test: bytesOf(test) };
      return {
        ...windowCounts(lengths, windowLength(inputs), place),
        bytesEach: lengths.train + lengths.test,
        ...(notice === undefined ? {} : { notice }),
      };
    }),

  async open({ directory, inputs, rank, world }) {
    const window = windowLength(inputs);
    const shards = readingText(directory, MOST_BYTES, ({ train, test }, place) => {
      const tokens = readAll(train);
      const parts =
        test === undefined ? cutText(tokens) : { train: tokens, test: readAll(test) };
      const lengths = { train: parts.train.length, test: parts.test.length };
      // It may have become shorter since it was looked at.
      windowCounts(lengths, window, place);
      return windowShards(parts, window, { rank, world });
    });
    return await Promise.resolve(shards);
  },
};

/** One file is not copied. */
const readAll = ([first, ...others]: readonly string[]): Uint8Array =>
  others.length === 0
    ? readFileSync(first!)
    : Buffer.concat([first!, ...others].map((file) => readFileSync(file)));
