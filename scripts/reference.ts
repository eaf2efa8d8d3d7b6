/** `npm run reference`: writes docs/reference anew from the definitions in the source. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { referenceDirectory, referencePages } from './reference/pages.ts';

const pages = await referencePages();
await rm(referenceDirectory, { recursive: true, force: true });
await mkdir(referenceDirectory, { recursive: true });
for (const [file, text] of pages) {
  await writeFile(path.join(referenceDirectory, file), text);
}
