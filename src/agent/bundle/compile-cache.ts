/**
 * Node keeps the code that it compiles of our files and reads it back at the next start,
 * where it compiles half a megabyte of them otherwise. It does so for modules that are
 * loaded after the call: an entry calls this and imports the rest dynamically. Threads
 * and children find the same cache by their environment, before they load anything.
 *
 * Who can write to the cache decides what runs. So it is not Node's default, one directory
 * of the machine's temporary ones for all users, but one that is this user's alone.
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
    // Without a place there is no cache, and starting takes longer.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  const found = lstatSync(directory);
  if (!found.isDirectory()) return undefined;
  // On Windows the temporary directory is the user's own already.
  if (user === undefined) return directory;
  return found.uid === user && (found.mode & 0o077) === 0 ? directory : undefined;
}
