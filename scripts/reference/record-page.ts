/**
 * The page of records: each kind with its fields. What a field is stands in the comment above
 * its schema, which this reads from the source.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { PHASES } from '../../src/shared/records/phases.ts';
import { RECORD_KINDS } from '../../src/shared/records/record-kinds.ts';
import { cell, code, table } from './markdown.ts';
import type { Page } from './page.ts';
import { keysOf, valueText, type Schema } from './schema-rows.ts';

const records = path.join(import.meta.dirname, '../../src/shared/records');

/** Fields that are the same everywhere and need no comment of their own. */
const COMMON: Readonly<Record<string, string>> = {
  at: 'Milliseconds since 1970, by the clock of the machine that made it.',
  rank: 'The rank.',
  iteration: 'The iteration.',
  node: 'The machine.',
  wall: 'Milliseconds.',
  lr: 'The learning rate.',
  method: 'The method.',
  collective: 'The collective.',
  error: 'The error, as in [codes](errors.md).',
  processes: 'The process of each rank.',
  'error.code': 'Its code.',
  'error.kind': 'Whether the input was wrong, or something else.',
  'error.message': 'One sentence with the values.',
  'error.place': 'The machine, the file or the setting.',
  'error.next': 'The next step.',
  'metricKind.id': 'Its id.',
  'metricKind.title': 'Its name, as in "accuracy 91.2 %".',
  'metricKind.format': 'How it is written: a share of 1 in percent, or a number.',
  'metricKind.better': 'Which values are better.',
  epoch: 'The plan’s number: 0 for the spec’s, then 1, 2, … for each switch.',
};

/** The part of a file that has schemas, without what is done with records. */
function schemaText(file: string): string {
  const text = readFileSync(path.join(records, file), 'utf8');
  return text.split(/= (?:eventKind|recordKind)\(/)[0]!;
}

/** Comments of a file's properties: for each name those of its places, in their order. */
function commentsOf(text: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const match of text.matchAll(
    /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\n)?^ +(\w+):/gm,
  )) {
    const [, comment = '', name] = match;
    const plain = comment.replace(/^\s*\* ?/gm, '').trim();
    found.set(name!, [...(found.get(name!) ?? []), plain]);
  }
  return found;
}

const shared = commentsOf(schemaText('fields.ts') + schemaText('magnitudes.ts'));

interface Row {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

function rowsOf(schema: Schema, text: string): readonly (readonly string[])[] {
  const own = commentsOf(text);
  const uses = new Map<string, number>();
  const comment = ({ path: key }: Row): string => {
    const name = key.split('.').at(-1)!.replace('[]', '');
    const places = own.get(name) ?? shared.get(name) ?? [];
    const use = uses.get(name) ?? 0;
    uses.set(name, use + 1);
    const said = places[Math.min(use, places.length - 1)] ?? '';
    return said === '' ? (COMMON[key] ?? COMMON[name] ?? '') : said;
  };
  return keysOf(schema)
    .filter(({ path: key }) => key !== 'type' && !isPhase(key) && !isOfPlan(key))
    .map((row) => [
      code(row.path) + (row.isRequired ? '' : ' ?'),
      valueText(row.schema),
      cell(comment(row)),
    ]);
}

const isPhase = (key: string): boolean => key.startsWith('phases.');
/** Plans are the spec's exchange section, filled in. */
const isOfPlan = (key: string): boolean => /^(plan|from|to)\./.test(key);

/** The first sentences of a file's head, up to those about its code. */
function headOf(text: string): string {
  const head = /^\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? '';
  const plain = head
    .replace(/^\s*\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
  return plain.split(/(?<=\.) (?=A new field|`)/)[0]!;
}

const kinds = RECORD_KINDS.map(({ schema }) => {
  const json = z.toJSONSchema(schema, { io: 'output' }) as Schema;
  const type = String((json.properties?.type as Schema).const);
  const text = schemaText(`${type}.ts`);
  return { type, head: headOf(text), rows: rowsOf(json, text) };
});

export const recordPage: Page = {
  file: 'records.md',
  title: 'Fields of records',
  about:
    'What a run leaves behind: the lines of `gradwire run --json` and of exports. Times are in milliseconds, sizes in bytes. A field with ? may be absent: it was not observed, which is never written as 0. [Records](../command-line.md#records) shows how to read them.',
  body: [
    table(
      ['type', 'what it is'],
      kinds.map(({ head, type }) => [`[\`${type}\`](#${type})`, cell(head)]),
    ),
    ...kinds.map(
      ({ head, rows, type }) =>
        `## ${type}\n\n${cell(head)}\n\n${table(['field', 'value', 'meaning'], rows)}${
          type === 'iteration'
            ? `\n\n\`phases\` has the milliseconds of ${PHASES.map((phase) => code(phase)).join(', ')}; they add up to \`wall\` ([phases](../architecture.md#phases)).`
            : ''
        }`,
    ),
  ],
};
