/**
 * Makes Node cache compiled code of our files for the next start, which otherwise
 * compiles half a megabyte of source. It covers modules loaded after the call, so an
 * entry calls this and imports the rest dynamically. Threads and children find the same
 * cache through their environment, before they load anything.
 *
 * Anyone who can write to the cache decides what runs. So it is not Node's default, one
 * temporary directory for all users, but a private directory of this user.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The user's settings for Node's cache take precedence. */
export function keepCompiledCode(): void {
  const given = process.env.NODE_COMPILE_CACHE;
  const wanted = given ?? ownDirectory(tmpdir());
  if (wanted === undefined) return;
  const { directory } = enableCompileCache(wanted);
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = given ?? directory;
}

/** A directory in `parent` that only the user can write to; undefined if there is none. */
export function ownDirectory(parent: string): string | undefined {
  const user = process.getuid?.();
  const directory = path.join(parent, `gradwire-code-${user ?? 'user'}`);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Without a directory there is no cache, and starting takes longer.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  const found = lstatSync(directory);
  if (!found.isDirectory()) return undefined;
  // On Windows the temporary directory is the user's own already.
  if (user === undefined) return directory;
  return found.uid === user && (found.mode & 0o077) === 0 ? directory : undefined;
}
