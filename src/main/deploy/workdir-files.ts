/** The files of a program's working directory, named by their contents. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import {
  MOST_PATH_BYTES,
  MOST_TREE_BYTES,
  MOST_TREE_ENTRIES,
  type TreeEntry,
} from '../../shared/protocol/work-tree.ts';
import { formatBytes } from '../../shared/words/units.ts';
import {
  reasonOf,
  TOO_MANY,
  tooLarge,
  unreadable,
  workdirPaths,
} from './workdir-paths.ts';

const LARGEST_NAMED = 3;

interface Found {
  /** Below the directory, with this system's separators. */
  readonly path: string;
  readonly bytes: number;
  readonly isLink: boolean;
  readonly executable: boolean;
}

/**
 * @returns files and links in the order of their paths
 * @throws GradwireError `WORKDIR_MISSING`, `WORKDIR_EMPTY`, `WORKDIR_TOO_LARGE`,
 * `WORKDIR_UNREADABLE`; the signal's reason if it is aborted
 */
export async function workdirFiles(
  directory: string,
  signal?: AbortSignal,
): Promise<readonly TreeEntry[]> {
  const isThere = await stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) {
    throw inputError('WORKDIR_MISSING', `there is no directory ${directory} here`, {
      place: 'workload.workdir',
      next: 'Create it, or correct it. If it is on the machines, set workload.copy to false.',
    });
  }
  const found = await foundIn(directory, signal);
  requireSize(directory, found);
  const entries: TreeEntry[] = [];
  for (const each of found) {
    signal?.throwIfAborted();
    entries.push(await entryOf(directory, each));
  }
  return entries.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

async function foundIn(
  directory: string,
  signal: AbortSignal | undefined,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const name of await workdirPaths(directory, signal)) {
    const status = await lstat(path.join(directory, name)).catch(() => undefined);
    const isLink = status?.isSymbolicLink() === true;
    // A name that git knows may be gone; sockets and pipes are of programs that run.
    if (status === undefined || !(isLink || status.isFile())) continue;
    const { mode, size } = status;
    const executable = (mode & 0o100) !== 0;
    found.push({ path: name, bytes: isLink ? 0 : size, isLink, executable });
  }
  return found;
}

function requireSize(directory: string, found: readonly Found[]): void {
  if (found.length === 0) {
    throw inputError('WORKDIR_EMPTY', `${directory} has no file to copy`, {
      place: 'workload.workdir',
      next: 'Start it in the directory of the program. Git may ignore all that is there.',
    });
  }
  const sum = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0);
  const bytes = sum(found.map((each) => each.bytes));
  const pathBytes = sum(found.map((each) => Buffer.byteLength(each.path)));
  const isWide = found.length > MOST_TREE_ENTRIES || pathBytes > MOST_PATH_BYTES;
  if (!isWide && bytes <= MOST_TREE_BYTES) return;
  const largest = found
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, LARGEST_NAMED)
    .map((each) => `${each.path} ${formatBytes(each.bytes)}`);
  const much = isWide
    ? TOO_MANY
    : `${formatBytes(bytes)} to copy, more than ${formatBytes(MOST_TREE_BYTES)}`;
  throw tooLarge(directory, `${much}; the largest: ${largest.join(', ')}`);
}

async function entryOf(
  directory: string,
  { executable, isLink, path: name }: Found,
): Promise<TreeEntry> {
  const place = path.join(directory, name);
  const named = name.split(path.sep).join('/');
  try {
    if (isLink) return { path: named, target: await readlink(place) };
    const hash = createHash('sha256');
    // Counted as it is read: the file may grow.
    let bytes = 0;
    for await (const chunk of createReadStream(place) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return { path: named, sha256: hash.digest('hex'), bytes, executable };
  } catch (cause) {
    throw unreadable(place, reasonOf(cause));
  }
}
