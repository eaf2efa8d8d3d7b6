/** docs/reproduced.md says what its results say, by the rules that figures have now. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { judgedAgain } from '../../../src/reproduce/judge-again.ts';
import {
  documentOf,
  entriesIn,
  entryOf,
  inOrder,
} from '../../../src/reproduce/page/results-document.ts';
import { parseResult } from '../../../src/reproduce/result.ts';

const docs = path.join(import.meta.dirname, '../../../docs');
const document = readFileSync(path.join(docs, 'reproduced.md'), 'utf8');
const entries = entriesIn(document);
const ids = figures.map(({ id }) => id);

test('the page is whole, in the order of the figures, and names those that are missing', () => {
  const missing = ids.filter((id) => !entries.some(({ figure }) => figure === id));
  expect(documentOf(inOrder(entries, ids), missing)).toBe(document);
});

test('each figure of the page has its result beside it', () => {
  const results = readdirSync(path.join(docs, 'reproduced'));
  expect(results.length).toBeGreaterThan(0);
  expect(entries.map(({ figure }) => `${figure}.json`).toSorted()).toEqual(
    results.toSorted(),
  );
});

describe.each(
  readdirSync(path.join(docs, 'reproduced')).map((name) => [
    name,
    readFileSync(path.join(docs, 'reproduced', name), 'utf8'),
  ]),
)('%s', (name, source) => {
  const result = parseResult(source, name);

  test('is judged by the rule of today', () => {
    expect(judgedAgain(result, figures)).toEqual(result);
  });

  test('is what the page says', () => {
    const entry = entryOf(result);
    expect(entries.find(({ figure }) => figure === result.figure)).toEqual(entry);
  });

  test('names no path of the machine that made it', () => {
    expect(source).not.toMatch(/"\/|(?<![\w.])\/(?:home|root|tmp|work|usr|mnt)\//);
  });
});
