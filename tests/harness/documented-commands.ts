/** Commands in the documents, as they stand in blocks of code for shells. */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');

/** The documents for users, without decisions and the generated reference. */
export const documents: readonly string[] = globSync(
  ['*.md', 'docs/*.md', 'examples/**/*.md'],
  { cwd: root },
).sort();

/** Lines of a document's blocks for shells, with those that a backslash goes on in. */
export function linesIn(document: string): readonly string[] {
  const text = readFileSync(path.join(root, document), 'utf8');
  const blocks = text.matchAll(/^ *```(?:sh|bash|console)\n([\s\S]*?)^ *```/gm);
  return [...blocks]
    .flatMap(([, block]) => block!.replace(/\\\n\s*/g, ' ').split('\n'))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
