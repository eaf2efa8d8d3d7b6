/**
 * Any text file, or all `.txt` files of a directory in the order of their names, as a
 * sequence of bytes: 256 tokens whatever the language, nothing to build or to miss.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { inputError } from '../../../shared/errors.ts';
import type { Dataset } from './dataset.ts';
import {
  splitText,
  windowCounts,
  windowLength,
  windowShards,
} from './token-windows.ts';

export const BYTES = 256;
/** Every rank reads all of it. */
const MOST_BYTES = 1_000_000_000;

export const text: Dataset = {
  id: 'text',
  title: 'Text',
  summary: 'A text file, or the .txt files of a directory, byte by byte',
  needsData: true,
  fields: { tokens: { type: 'i32', shape: ['any'], below: BYTES } },

  inspect({ directory, inputs }) {
    const bytes = reading(directory, (files) =>
      files.reduce((sum, file) => sum + statSync(file).size, 0),
    );
    if (bytes > MOST_BYTES) {
      throw inputError('DATA_TOO_LARGE', `${directory} has ${bytes} bytes of text`, {
        ...{ place: 'workload.data', next: `Use ${MOST_BYTES} bytes at most.` },
      });
    }
    return windowCounts(bytes, windowLength(inputs), directory!);
  },

  async open({ directory, inputs, rank, world }) {
    const window = windowLength(inputs);
    const tokens = reading(directory, (files) =>
      Buffer.concat(files.map((file) => readFileSync(file))),
    );
    // It may have become shorter since it was looked at.
    windowCounts(tokens.length, window, directory!);
    return await Promise.resolve(
      windowShards(splitText(tokens), window, { rank, world }),
    );
  },
};

const NEXT = 'Set workload.data to a text file or a directory of .txt files.';

/** Does something with the files of a place, at least one. */
function reading<T>(
  place: string | undefined,
  read: (files: readonly string[]) => T,
): T {
  if (place === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', 'text needs a file', {
      place: 'workload.data',
      next: `${NEXT} Or use the dataset "sentences".`,
    });
  }
  try {
    return read(filesOf(place));
  } catch (error) {
    const { code, path: file = place } = error as NodeJS.ErrnoException;
    const why = code === undefined ? undefined : WHY[code];
    if (why === undefined) throw error;
    throw inputError('DATA_DIRECTORY_MISSING', `${file} ${why}`, {
      ...{ place: 'workload.data', next: NEXT },
    });
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read (EACCES)',
};

function filesOf(place: string): readonly string[] {
  if (statSync(place).isFile()) return [place];
  const names = readdirSync(place).filter((name) => name.endsWith('.txt'));
  if (names.length > 0) return names.sort().map((name) => path.join(place, name));
  throw inputError('DATA_FILE_MISSING', `${place} has no .txt file`, {
    ...{ place, next: NEXT },
  });
}
