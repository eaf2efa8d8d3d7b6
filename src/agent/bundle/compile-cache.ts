/**
 * Node keeps the code that it compiles of our files and reads it back at the next start,
 * where it compiles half a megabyte of them otherwise. It does so for modules that are
 * loaded after the call: an entry calls this and imports the rest dynamically. Threads
 * and children find the same cache by their environment, before they load anything.
 */
import { enableCompileCache } from 'node:module';

/** Whoever has set or disabled Node's cache has the last word. */
export function keepCompiledCode(): void {
  const { directory } = enableCompileCache();
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
