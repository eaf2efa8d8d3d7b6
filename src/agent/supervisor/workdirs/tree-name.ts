/** Names of copied directories, from what is in them. */
import { createHash } from 'node:crypto';
import { isLink, type TreeEntry } from '../../../shared/protocol/work-tree.ts';

/** The name of a tree: the SHA-256 of its list, so that the same files are the same tree. */
export function treeName(entries: readonly TreeEntry[]): string {
  const lines = entries.map((entry) =>
    isLink(entry)
      ? ['link', entry.path, entry.target]
      : ['file', entry.path, entry.sha256, entry.bytes, entry.executable],
  );
  return createHash('sha256').update(JSON.stringify(lines)).digest('hex');
}
