/** Examples of the documentation, which tests run as they stand there. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.join(import.meta.dirname, '../../docs');

/**
 * The first block of code in a document that is of this language, and that begins with this
 * text where one is given.
 */
export function documented(document: string, language: string, start = ''): string {
  const text = readFileSync(path.join(docs, document), 'utf8');
  const blocks = text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'));
  const found = [...blocks].find(([, code]) => code!.startsWith(start));
  if (found === undefined) throw new Error(`docs/${document} has no such example`);
  return found[1]!;
}
