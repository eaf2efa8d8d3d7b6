/**
 * `npm run reproduced [-- DIRECTORY]`: takes the results of a directory of `gradwire reproduce` into docs/reproduced,
 * without paths of the machine, and makes docs/reproduced.md of all that are there.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readResults } from '../src/main/figures/read-results.ts';
import { figures } from '../src/reproduce/figures/registry.ts';
import { judgedAgain } from '../src/reproduce/judge-again.ts';
import {
  documentOf,
  entryOf,
  inOrder,
} from '../src/reproduce/page/results-document.ts';
import type { Result } from '../src/reproduce/result.ts';

const docs = path.join(import.meta.dirname, '..', 'docs');
const kept = path.join(docs, 'reproduced');
const page = path.join(docs, 'reproduced.md');

const ids = figures.map(({ id }) => id);
const [directory] = process.argv.slice(2);
mkdirSync(kept, { recursive: true });
if (directory !== undefined) {
  for (const result of await readResults(directory, ids)) {
    const file = path.join(kept, `${result.figure}.json`);
    writeFileSync(file, `${JSON.stringify(withoutPlaces(result))}\n`);
  }
}
const results = (await readResults(kept, ids)).map((result) => {
  const judged = judgedAgain(result, figures);
  if (judged === undefined) {
    throw new Error(
      `docs/reproduced/${result.figure}.json: its figure has other settings, cases or seeds by now; remove it`,
    );
  }
  return judged;
});
for (const result of results) {
  writeFileSync(
    path.join(kept, `${result.figure}.json`),
    `${JSON.stringify(result)}\n`,
  );
}
const entries = results.map(entryOf);
const missing = ids.filter((id) => !entries.some(({ figure }) => figure === id));
writeFileSync(page, documentOf(inOrder(entries, ids), missing));
process.stdout.write(`${results.length} results are in docs/reproduced\n`);

function withoutPlaces({ full, python, ...result }: Result): Result {
  return {
    ...result,
    ...(full === undefined
      ? {}
      : { full: full.data === undefined ? full : { ...full, data: 'data' } }),
    ...(python === undefined ? {} : { python: 'python' }),
  };
}
