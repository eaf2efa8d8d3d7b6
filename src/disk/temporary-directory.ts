/**
 * Directories for temporary files. The one that the environment names is often not there: a
 * batch system makes one for each job, on some machines only, and removes it with the job. So
 * the first that can be used is taken, as Python does.
 */
import { mkdtempSync, rmdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { inputError } from '../shared/errors/errors.ts';

interface Wish {
  /** The most bytes of its path, since that of a socket is limited; default: any number. */
  readonly longest?: number;
  /** A place that is better than those for temporary files. */
  readonly preferred?: string | undefined;
}

/**
 * Returns a directory in which files can be made.
 * @throws GradwireError `TEMPORARY_DIRECTORY_UNUSABLE`
 */
export function temporaryPlace({ longest = Infinity, preferred }: Wish = {}): string {
  const places = [
    ...(preferred === undefined ? [] : [preferred]),
    os.tmpdir(),
    ...(process.platform === 'win32' ? [] : ['/tmp', '/var/tmp']),
  ];
  const obstacles = new Map<string, string>();
  for (const place of places) {
    const obstacle = obstacleTo(place, longest);
    if (obstacle === undefined) return place;
    obstacles.set(place, obstacle);
  }
  const list = [...obstacles].map(([place, why]) => `${place} ${why}`).join(', ');
  throw inputError(
    'TEMPORARY_DIRECTORY_UNUSABLE',
    `there is no place for temporary files: ${list}`,
    { next: 'Set TMPDIR to a directory there that exists and that you may write to.' },
  );
}

/**
 * Makes a directory that only this user may enter.
 * @param prefix of its name: `gradwire-history-`
 * @throws GradwireError `TEMPORARY_DIRECTORY_UNUSABLE`
 */
export const temporaryDirectory = (prefix: string, wish?: Wish): string =>
  mkdtempSync(path.join(temporaryPlace(wish), prefix));

function obstacleTo(place: string, longest: number): string | undefined {
  if (Buffer.byteLength(place) > longest) return 'has too long a path';
  try {
    // Permissions do not tell it: a file system may be read-only, full, or like /proc.
    rmdirSync(mkdtempSync(path.join(place, 'gradwire-')));
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return OBSTACLES[code ?? ''] ?? `cannot be used (${code})`;
  }
}

const OBSTACLES: Readonly<Record<string, string>> = {
  EACCES: 'may not be written to',
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a directory',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a full disk',
};
