/** Stamps that show whether files have changed since they were read. */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { testNames } from './split-files.ts';

/** Changes when the file is written or replaced. @throws if it is missing */
export function fileStamp(file: string): string {
  const { ino, mtimeMs, size } = statSync(file);
  return [ino, mtimeMs, size].join();
}

/**
 * A stamp of everything that a data set may read there: the file and its test file,
 * or the directory's contents. Missing files have a stamp as well.
 */
export function placeStamp(place: string): string {
  const files = [place, ...testNames(place), ...entriesOf(place)];
  return files.map((file) => `${file} ${stampIfThere(file)}`).join('\n');
}

function stampIfThere(file: string): string {
  try {
    return fileStamp(file);
  } catch {
    return 'missing';
  }
}

function entriesOf(place: string): readonly string[] {
  try {
    return readdirSync(place).map((name) => path.join(place, name));
  } catch {
    return []; // a file, or nothing
  }
}
