/**
 * Makes a directory with its missing parents, one by one. Node's own way never ends where the
 * system says of a new directory that there is no such place, as below /proc and some automount
 * points, and it calls a read-only file system a missing directory.
 */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** @throws the system's error for the first directory that cannot be made */
export async function makeDirectory(directory: string, mode?: number): Promise<void> {
  const missing: string[] = [];
  for (let at = path.resolve(directory); !(await isThere(at)); at = path.dirname(at)) {
    missing.unshift(at);
  }
  for (const place of missing) {
    try {
      await mkdir(place, { mode });
    } catch (error) {
      // Another process was faster.
      if (codeOf(error) !== 'EEXIST' || !(await isThere(place))) throw error;
    }
  }
}

/** @throws if it cannot be looked at, or is a file */
async function isThere(place: string): Promise<boolean> {
  try {
    if ((await stat(place)).isDirectory()) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && path.dirname(place) !== place) return false;
    throw error;
  }
  throw Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${place}'`), {
    code: 'ENOTDIR',
    syscall: 'mkdir',
    path: place,
  });
}

const codeOf = (error: unknown): string | undefined =>
  (error as NodeJS.ErrnoException).code;
