/** Quotations in claims, settings and differences stand in the papers' texts, where this machine has them. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { figures } from '../../../src/reproduce/figures/registry.ts';

const papers = path.resolve('../shared/papers');
const textOf = ({ name }: Figure['paper']): string =>
  path.join(papers, `${name.toLowerCase()}.txt`);

/** All that a figure quotes, at both scales. */
const quotationsOf = ({ claim, differences, full, rule, settings }: Figure) => {
  const all = [...settings, ...(full?.settings ?? [])];
  const texts = [
    rule,
    ...claim.quoted.map(({ text }) => text),
    ...all.flatMap(({ because, text }) => [text, because]),
    ...differences,
    ...(full?.differences ?? []),
  ];
  return texts.flatMap((text) =>
    [...text.matchAll(/“([^”]*)”/g)].map(([, one]) => one!),
  );
};

const plain = (text: string): string => text.normalize('NFKD').toLowerCase();
const lettersOf = (text: string): string => plain(text).replaceAll(/[^a-z]/g, '');

/** The text of a paper by its letters alone, without the keys of what it cites. */
const paperOf = (text: string): string =>
  lettersOf(text.replaceAll(/\b[a-z]+\d{4}[a-z]*\b/gi, ''));

/**
 * Returns the stretches of a quotation that the text has to have, by their letters alone: formulas are lost in it or
 * stand there twice, and words in brackets are ours. An option of a script is quoted from that.
 */
function stretchesOf(quotation: string): readonly string[] {
  if (quotation.startsWith('--')) return [];
  return plain(quotation)
    .replaceAll(/\[[^\]]*\]|…/g, '|')
    .replaceAll(/\S*[^\s\p{ASCII}’“–]\S*|\S*[\d=/]\S*|(?<![a-z])[a-z](?![a-z])/gu, '|')
    .split('|')
    .map(lettersOf)
    .filter((letters) => letters.length > 5);
}

const missingIn = (text: string, quotations: readonly string[]): readonly string[] =>
  quotations.filter((one) =>
    stretchesOf(one).some((letters) => !text.includes(letters)),
  );

const isHere = figures.every(({ paper }) => existsSync(textOf(paper)));
if (!isHere) {
  process.stderr.write(
    'Skipping tests of quotations: no papers in ../shared/papers.\n',
  );
}

describe.skipIf(!isHere)('quotations', () => {
  test.each(figures.map((figure) => [figure.id, figure] as const))(
    '%s has those of its paper',
    (_, figure) => {
      const text = paperOf(readFileSync(textOf(figure.paper), 'utf8'));
      expect(missingIn(text, quotationsOf(figure))).toEqual([]);
    },
  );
});

test('a word that is not in the text is seen, a formula is not', () => {
  const text = paperOf('At higher node count P𝑃P, data smith2019more becomes larger');
  expect(missingIn(text, ['At higher node count P, data becomes larger'])).toEqual([]);
  const changed = 'At higher node count P, data becomes much larger';
  expect(missingIn(text, [changed])).toEqual([changed]);
});

test('most of what is quoted is compared', () => {
  const all = figures.flatMap(quotationsOf);
  const compared = all.flatMap(stretchesOf).join('').length;
  expect(compared).toBeGreaterThan(0.8 * lettersOf(all.join('')).length);
});
