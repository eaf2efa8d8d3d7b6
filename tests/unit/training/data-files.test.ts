/** docs/data.md, row by row: what each format accepts, and by which code the rest is refused. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { outcomeOf, type Attempts } from './data-attempts.ts';
import { images } from './image-attempts.ts';
import { tables } from './table-attempts.ts';
import { texts } from './text-attempts.ts';
import { textLines } from './text-lines-attempts.ts';

const DOCUMENT = path.join(import.meta.dirname, '../../../docs/data.md');

interface Row {
  readonly section: string;
  readonly input: string;
  /** `read` and codes, one of which must come of each attempt. */
  readonly outcomes: readonly string[];
}

const rows: readonly Row[] = readFileSync(DOCUMENT, 'utf8')
  .split(/^## /m)
  .slice(1)
  .flatMap((text) => {
    const [section = '', ...lines] = text.split('\n');
    return lines
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .map((line): Row => {
        const [, input = '', outcome = ''] = line.split('|').map((cell) => cell.trim());
        const codes = [...outcome.matchAll(/`([A-Z]+_[A-Z_]+)`/g)].map(
          ([, code]) => code!,
        );
        const isRead = /^read\b/.test(outcome);
        return { section, input, outcomes: isRead ? ['read', ...codes] : codes };
      });
  });

const attempts: Attempts = { ...textLines, ...tables, ...texts, ...images };

describe.each(Object.keys(attempts))('%s', (section) => {
  test.each(Object.entries(attempts[section]!))('%s', async (input, tried) => {
    const row = rows.find((each) => each.section === section && each.input === input);
    expect(row, 'a row of docs/data.md').toBeDefined();
    const seen = new Set<string>();
    for (const attempt of tried) {
      const outcome = await outcomeOf(attempt);
      const what = `${attempt.dataset}: ${outcome.text}`;
      expect(row!.outcomes, what).toContain(outcome.code);
      seen.add(outcome.code);
      if (attempt.says !== undefined) expect(outcome.text).toContain(attempt.says);
      if (attempt.parts !== undefined)
        expect(outcome.parts, what).toEqual(attempt.parts);
      if (outcome.code !== 'read') expect(outcome.kind, what).toBe('input');
    }
    expect([...seen].sort()).toEqual(row!.outcomes.toSorted());
  });
});

test('every row of docs/data.md is tried, and every attempt is a row', () => {
  const names = rows.map(({ section, input }) => `${section}: ${input}`);
  const tried = Object.entries(attempts).flatMap(([section, inputs]) =>
    Object.keys(inputs).map((input) => `${section}: ${input}`),
  );
  expect(tried.toSorted()).toEqual(names.toSorted());
});
