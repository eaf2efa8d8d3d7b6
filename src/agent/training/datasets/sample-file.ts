/** The file that a data set is in, and facts about files. */
import { statSync } from 'node:fs';
import { inputError } from '../../../shared/errors/errors.ts';
import { fileStamp } from './file-stamp.ts';

/** @throws GradwireError `DATA_DIRECTORY_MISSING` where it is not a file that can be read */
export function requireFile(
  file: string | undefined,
  what: string,
  instead: string,
): string {
  const next = `Set workload.data to ${what}. Or use the data set "${instead}".`;
  if (file === undefined) {
    throw inputError('DATA_DIRECTORY_MISSING', `the data set needs ${what}`, {
      place: 'workload.data',
      next,
    });
  }
  try {
    if (statSync(file).isFile()) return file;
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code;
    const message =
      why === 'ENOENT' ? `${file} does not exist` : `${file} may not be read (${why})`;
    throw inputError('DATA_DIRECTORY_MISSING', message, {
      place: 'workload.data',
      next,
    });
  }
  throw inputError('DATA_DIRECTORY_MISSING', `${file} is not a file`, {
    place: 'workload.data',
    next,
  });
}

/** Caches facts about files until they change. */
export class FileCache<Found> {
  readonly #found = new Map<
    string,
    { readonly stamp: string; readonly value: Found }
  >();
  readonly #look: (...files: string[]) => Found;

  constructor(look: (...files: string[]) => Found) {
    this.#look = look;
  }

  of(...files: string[]): Found {
    const stamp = files.map(fileStamp).join();
    const name = files.join('\0');
    const known = this.#found.get(name);
    if (known?.stamp === stamp) return known.value;
    const value = this.#look(...files);
    this.#found.set(name, { stamp, value });
    return value;
  }
}
