/**
 * Makes Node cache compiled code of our files for the next start, which otherwise
 * compiles half a megabyte of source. It covers modules loaded after the call, so an
 * entry calls this and imports the rest dynamically. Threads and children find the same
 * cache through their environment, before they load anything.
 *
 * Anyone who can write to the cache decides what runs. So it is not Node's default, one
 * temporary directory for all users, but a private directory of this user.
 */
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { ownDirectory } from './own-directory.ts';

/** The user's settings for Node's cache take precedence. */
export function keepCompiledCode(): void {
  const given = process.env.NODE_COMPILE_CACHE;
  // Without a directory there is no cache, and starting takes longer.
  const wanted = given ?? ownDirectory(tmpdir(), 'gradwire-code');
  if (wanted === undefined) return;
  const { directory } = enableCompileCache(wanted);
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = given ?? directory;
}
