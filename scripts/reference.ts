/** `npm run reference`: writes docs/reference anew from the definitions in the source, and terms into the glossary. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { glossaryFile, glossaryText } from './reference/glossary.ts';
import { referenceDirectory, referencePages } from './reference/pages.ts';

const pages = await referencePages();
await rm(referenceDirectory, { recursive: true, force: true });
await mkdir(referenceDirectory, { recursive: true });
for (const [file, text] of pages) {
  await writeFile(path.join(referenceDirectory, file), text);
}
await writeFile(glossaryFile, await glossaryText());
