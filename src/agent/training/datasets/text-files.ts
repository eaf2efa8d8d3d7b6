/**
 * The files of a text: one, or all `.txt` files of a directory in the order of their names. If
 * names state a file's part, such as `ptb.train.txt` and `ptb.test.txt`, they decide;
 * otherwise the end of the text is the test part (token-windows.ts).
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { inputError } from '../../../shared/errors/errors.ts';
import { headOf, isOf, requireNoArchive } from './data-file.ts';
import { isGzip } from './gzip-reader.ts';

export interface TextFiles {
  /** Files to train on, or those with all of the text. */
  readonly train: readonly string[];
  /** Files to test on; undefined where the text has to be cut. */
  readonly test?: readonly string[] | undefined;
  /** Notice of the files used for each part, if their names decided. */
  readonly notice?: string | undefined;
}

const NEXT = 'Set workload.data to a text file or a directory of .txt files.';

/**
 * Does something with the files of a place, at least one.
 * @param most bytes that they may have
 * @throws GradwireError `DATA_DIRECTORY_MISSING`, `DATA_FILE_MISSING`, `DATA_TOO_LARGE`;
 * `DATA_MISMATCH` for compressed files
 */
export function readingText<T>(
  place: string | undefined,
  most: number,
  read: (files: TextFiles, place: string) => T,
): T {
  if (place === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', 'text needs a file', {
      place: 'workload.data',
      next: `${NEXT} Or use the data set "sentences".`,
    });
  }
  try {
    const files = inParts(filesOf(place));
    const all = [...files.train, ...(files.test ?? [])];
    for (const file of all) requireUnpacked(file);
    const bytes = bytesOf(all);
    if (bytes > most) {
      throw inputError('DATA_TOO_LARGE', `${place} has ${bytes} bytes of text`, {
        place: 'workload.data',
        next: `Use at most ${most} bytes.`,
      });
    }
    return read(files, place);
  } catch (error) {
    const { code, path: file = place } = error as NodeJS.ErrnoException;
    if (!(error instanceof Error) || code === undefined || 'kind' in error) throw error;
    const why = code === 'ENOENT' ? 'does not exist' : `may not be read (${code})`;
    throw inputError('DATA_DIRECTORY_MISSING', `${file} ${why}`, {
      place: 'workload.data',
      next: NEXT,
    });
  }
}

/** @throws GradwireError `DATA_MISMATCH` */
function requireUnpacked(file: string): void {
  const head = headOf(file);
  if (isGzip(head)) throw isOf(file, 'gzipped', 'gunzip');
  requireNoArchive(file, head);
}

export function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

function filesOf(place: string): readonly string[] {
  const status = statSync(place);
  if (status.isFile()) return [place];
  if (!status.isDirectory()) {
    throw inputError(
      'DATA_DIRECTORY_MISSING',
      `${place} is neither a file nor a directory`,
      {
        place: 'workload.data',
        next: NEXT,
      },
    );
  }
  const files = readdirSync(place)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => path.join(place, name))
    .filter((file) => statSync(file).isFile());
  if (files.length > 0) return files;
  throw inputError('DATA_FILE_MISSING', `${place} has no .txt file`, {
    place,
    next: NEXT,
  });
}

/** The files in parts, where their names say so. */
export function inParts(files: readonly string[]): TextFiles {
  const named = (...parts: readonly string[]): readonly string[] =>
    files.filter((file) =>
      path
        .basename(file)
        .toLowerCase()
        .split(/[._-]/)
        .some((word) => parts.includes(word)),
    );
  const train = named('train');
  const forTest = named('test');
  const test = forTest.length > 0 ? forTest : named('valid', 'validation');
  if (files.length < 2 || train.length === 0 || test.length === 0)
    return { train: files };
  const others = files.filter((file) => !train.includes(file) && !test.includes(file));
  const left = others.length === 0 ? '' : `, ${listed(others)} left out`;
  return {
    train,
    test,
    notice: `${listed(train)} to train, ${listed(test)} to test${left}.`,
  };
}

const listed = (files: readonly string[]): string =>
  files.map((file) => path.basename(file)).join(' and ');
