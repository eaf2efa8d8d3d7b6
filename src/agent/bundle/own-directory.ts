/** A directory for files that only this user may write, beside those of other users. */
import { lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';

/** `NAME-UID` in `parent`, to which only the user can write; undefined if there is none. */
export function ownDirectory(parent: string, name: string): string | undefined {
  const user = process.getuid?.();
  const directory = path.join(parent, `${name}-${user ?? 'user'}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  const found = lstatSync(directory);
  if (!found.isDirectory()) return undefined;
  // On Windows the temporary directory is the user's own already.
  if (user === undefined) return directory;
  return found.uid === user && (found.mode & 0o077) === 0 ? directory : undefined;
}
