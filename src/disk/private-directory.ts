/**
 * Directories that belong to the user alone. Whoever can write to one of ours can put a
 * socket of his own there, to which we would send what only our supervisor may have; whoever
 * can read it reads the history.
 */
import type { Stats } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { inputError, type GradwireError } from '../shared/errors/errors.ts';
import { makeDirectory } from './make-directory.ts';

const OTHERS = 0o077;

/**
 * Makes it, with its missing parents, or makes it private.
 * @param next what the user can do if that fails
 * @returns what was changed of an existing one, in a sentence; undefined: nothing
 * @throws GradwireError `HOME_UNUSABLE`
 */
export async function makePrivate(
  directory: string,
  next: string,
): Promise<string | undefined> {
  const unusable = (message: string): GradwireError =>
    inputError('HOME_UNUSABLE', message, { next });
  try {
    await makeDirectory(directory, 0o700);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(`cannot make ${directory}: ${why}`);
  }
  const entry: Stats = await stat(directory);
  if (!entry.isDirectory()) throw unusable(`${directory} is not a directory`);
  const { mode, uid } = entry;
  if (process.getuid === undefined) return undefined; // Windows: by its own rules
  if (uid !== process.getuid()) {
    throw unusable(`${directory} belongs to another user (uid ${uid})`);
  }
  if ((mode & OTHERS) === 0) return undefined;
  try {
    await chmod(directory, mode & 0o700);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw unusable(`other users can open ${directory}: ${why}`);
  }
  // Some file systems accept any mode and keep theirs.
  if (((await stat(directory)).mode & OTHERS) !== 0) {
    throw unusable(
      `other users can open ${directory}, whose file system keeps its mode`,
    );
  }
  const before = (mode & 0o777).toString(8).padStart(4, '0');
  return `${directory} was open to other users (mode ${before}); it is private now (0700)`;
}
