/**
 * docs/reference is made from the source by `npm run reference`: what is committed is what this
 * source gives, and leaves nothing of it out. Codes and variables are looked for in the text of
 * all sources, not by the lists that the pages are made from.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  referenceDirectory,
  referencePages,
} from '../../../scripts/reference/pages.ts';
import { glossaryFile, glossaryText } from '../../../scripts/reference/glossary.ts';
import { makeCatalogue } from '../../../src/agent/engine.ts';
import { codeGroups } from '../../../src/shared/codes/error-code.ts';

const root = path.join(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

let made: ReadonlyMap<string, string>;
beforeAll(async () => {
  made = await referencePages();
});

const committed = (file: string): string =>
  readFileSync(path.join(referenceDirectory, file), 'utf8');

it('is what the source gives: otherwise run npm run reference', () => {
  expect(readdirSync(referenceDirectory).toSorted()).toEqual(
    [...made.keys()].toSorted(),
  );
  for (const [file, text] of made) expect(committed(file), file).toBe(text);
});

it('the glossary defines terms as the page explains them', async () => {
  expect(readFileSync(glossaryFile, 'utf8')).toBe(await glossaryText());
});

it('has a meaning in every row', () => {
  const empty = [...made].flatMap(([file, text]) =>
    text
      .split('\n')
      .filter((line) => /^\|.*\|\s+\|$/.test(line) || /^- [^:]+:\s*$/.test(line))
      .map((line) => `${file}: ${line}`),
  );
  expect(empty).toEqual([]);
});

describe('codes', () => {
  const codes = new Set(codeGroups.flatMap((group) => Object.keys(group.codes)));
  const sources = globSync(
    [
      'src/**/*.{ts,svelte}',
      'bin/*.js',
      'bench/**/*.ts',
      'python/gradwire/src/**/*.py',
    ],
    { cwd: root, exclude: ['src/shared/codes/**'] },
  ).map((file) => ({ file, text: read(file) }));

  it('that the sources raise are all explained', () => {
    const raised =
      /(?:inputError|failure|GradwireError)\(\s*["']([A-Z][A-Z_]+)["']|\bcode: '([A-Z][A-Z_]+)',\s*(?:kind|level|message)/g;
    const unexplained = sources.flatMap(({ file, text }) =>
      [...text.matchAll(raised)]
        .map(([, one, other]) => (one ?? other)!)
        .filter((code) => !codes.has(code))
        .map((code) => `${file}: ${code}`),
    );
    expect(unexplained).toEqual([]);
  });

  it('that are explained are all in the sources', () => {
    const made =
      /^(METHOD|COLLECTIVE|MODEL|DATASET|ORDER)_(DUPLICATE|INVALID)$|^(DATASET|MODEL|OPTIMIZER)_UNKNOWN$|_(INVALID|UNKNOWN_KEY)$/;
    const texts = sources.map(({ text }) => text).join('\n');
    const unused = [...codes].filter(
      (code) => !made.test(code) && !new RegExp(`\\b${code}\\b`).test(texts),
    );
    expect(unused).toEqual([]);
  });

  it('in the documents are all explained', () => {
    const documents = ['README.md', ...globSync('docs/*.md', { cwd: root })].map(read);
    const variables = committed('environment.md');
    const unknown = documents
      .flatMap((text) => [...text.matchAll(/`([A-Z]{2,}(?:_[A-Z]+)+)`/g)])
      .map(([, code]) => code!)
      // Node's own begin with ERR.
      .filter((code) => !code.startsWith('ERR_'))
      .filter((code) => !codes.has(code) && !variables.includes(code));
    expect(unknown).toEqual([]);
  });
});

it('says of every method and collective where it pays', () => {
  const { collectives, methods } = makeCatalogue();
  const unsaid = [...methods, ...collectives].filter(
    ({ suits }) => suits === undefined,
  );
  expect(unsaid.map(({ id }) => id)).toEqual([]);
  expect(collectives.filter(({ formula }) => formula === undefined)).toEqual([]);
});

it('has every variable of our own that the sources name', () => {
  const page = committed('environment.md');
  const named = globSync(['src/**/*.ts', 'bin/*.js', 'python/gradwire/src/**/*.py'], {
    cwd: root,
  }).flatMap((file) => read(file).match(/\bGRADWIRE_[A-Z]+(?:_[A-Z]+)*\b/g) ?? []);
  expect([...new Set(named)].filter((name) => !page.includes(`\`${name}\``))).toEqual(
    [],
  );
});
