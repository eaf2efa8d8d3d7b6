/**
 * Folders in which a user looks for a script. The system decides what this user may read.
 * Hidden entries and Python's caches are left out; a hidden folder can be asked for by its path.
 */
import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import path from 'node:path';
import { inputError } from '../../shared/errors/errors.ts';
import {
  MOST_LISTED,
  type FolderListing,
  type FolderPlace,
} from '../../shared/rpc/folder-listing.ts';
import { userHome } from '../home/user-home.ts';
import { expandHome } from '../spec/user-path.ts';

/** Most entries of a folder that are read: one of a data set may have millions. */
const MOST_READ = 20_000;

const SCRIPT = '.py';

/** Codes of paths that lead to no folder. */
const NO_FOLDER = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP']);

/**
 * A folder, its folders and its scripts, by name.
 * @param given empty: the user's home, from which a relative path begins
 * @throws GradwireError `WORKDIR_MISSING`; the system's error if it may not be read
 */
export async function listFolder(given: string): Promise<FolderListing> {
  const folder = path.resolve(userHome(), expandHome(given));
  const { entries, isCut } = await entriesOf(folder);
  const kinds = await Promise.all(
    entries.map(async (entry) => ({
      name: entry.name,
      kind: await kindOf(folder, entry),
    })),
  );
  const named = (kind: string): string[] =>
    kinds
      .filter((one) => one.kind === kind)
      .map(({ name }) => name)
      .toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const folders = named('folder');
  const scripts = named('script').filter((name) => name.endsWith(SCRIPT));
  return {
    path: folder,
    places: placesOf(folder),
    folders: folders
      .slice(0, MOST_LISTED)
      .map((name) => ({ name, path: path.join(folder, name) })),
    scripts: scripts.slice(0, MOST_LISTED),
    isCut: isCut || Math.max(folders.length, scripts.length) > MOST_LISTED,
  };
}

/** Entries that may be shown. */
async function entriesOf(
  folder: string,
): Promise<{ readonly entries: readonly Dirent[]; readonly isCut: boolean }> {
  const entries: Dirent[] = [];
  let read = 0;
  try {
    for await (const entry of await opendir(folder)) {
      if (++read > MOST_READ) return { entries, isCut: true };
      if (mayBeShown(entry)) entries.push(entry);
    }
  } catch (error) {
    if (!NO_FOLDER.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw inputError('WORKDIR_MISSING', `there is no folder ${folder}`, {
      place: 'workload.workdir',
      next: 'Choose another one.',
    });
  }
  return { entries, isCut: false };
}

const mayBeShown = (entry: Dirent): boolean =>
  !entry.name.startsWith('.') &&
  entry.name !== '__pycache__' &&
  (entry.isDirectory() || entry.isSymbolicLink() || entry.name.endsWith(SCRIPT));

/** The kind of an entry, or of what a link leads to; undefined if it leads nowhere. */
async function kindOf(
  folder: string,
  entry: Dirent,
): Promise<'folder' | 'script' | undefined> {
  const known = entry.isSymbolicLink()
    ? await stat(path.join(folder, entry.name)).catch(() => undefined)
    : entry;
  if (known?.isDirectory() === true) return 'folder';
  return known?.isFile() === true ? 'script' : undefined;
}

function placesOf(folder: string): FolderPlace[] {
  const above = path.dirname(folder);
  return above === folder
    ? [{ name: folder, path: folder }]
    : [...placesOf(above), { name: path.basename(folder), path: folder }];
}
