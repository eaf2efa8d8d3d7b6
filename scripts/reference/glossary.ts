/** The glossary with the definitions of the terms that the page explains. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { TERMS } from '../../src/shared/words/terms.ts';
import { cell } from './markdown.ts';

export const glossaryFile = path.join(import.meta.dirname, '../../docs/glossary.md');

/**
 * The glossary's text: the definition of each term is the first sentence of its row, and what
 * follows it stays.
 * @throws Error if a term has no row
 */
export async function glossaryText(): Promise<string> {
  let text = await readFile(glossaryFile, 'utf8');
  for (const [term, definition] of Object.entries(TERMS)) {
    const row = new RegExp(
      `^(\\| \\*\\*${term}\\*\\* +\\| )(.*?)((?:\\. .*?)? +\\|)$`,
      'm',
    );
    if (!row.test(text)) throw new Error(`docs/glossary.md has no row for "${term}"`);
    text = text.replace(
      row,
      (_row, begin: string, _definition, end: string) => begin + cell(definition) + end,
    );
  }
  const options = await resolveConfig(glossaryFile);
  return await format(text, { ...options, filepath: glossaryFile });
}
