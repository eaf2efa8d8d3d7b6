/** The places of this process's control groups in Linux's file system, of version 1 and 2. */
import path from 'node:path';

/** Returns the content of a file; undefined if it cannot be read. */
export type ReadText = (file: string) => string | undefined;

const GROUPS = '/proc/self/cgroup';
export const MOUNT = '/sys/fs/cgroup';

/**
 * Folders of this process's group and of those around it, the outermost first. In a container they may be named as the
 * host sees them, and only the last one exists.
 * @param controller of version 1; empty: version 2
 */
export function controlGroupFolders(
  read: ReadText,
  controller: string,
): readonly string[] {
  for (const line of (read(GROUPS) ?? '').split('\n')) {
    const [, controllers, group] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers?.split(',').includes(controller) !== true) continue;
    const mount = path.posix.join(MOUNT, controller);
    const folders = [];
    for (let at = group!; ; at = path.posix.dirname(at)) {
      folders.unshift(path.posix.join(mount, at).replace(/\/$/, ''));
      if (at === '/' || at === '.') return folders;
    }
  }
  return [];
}
