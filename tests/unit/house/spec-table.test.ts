/** The table of a spec's keys in docs/command-line.md has a row for every key, and no others. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { experimentSpecSchema } from '../../../src/shared/spec/experiment-spec.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
}

const file = path.join(import.meta.dirname, '../../../docs/command-line.md');
const schema = z.toJSONSchema(experimentSpecSchema, { io: 'input' }) as Node;

/** The keys at the start of a table's row: `world.ranks` and `world.nodes` of `world.ranks`, `.nodes`. */
function keysOfRow(row: string): readonly string[] {
  const names = [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const [part] = names[0]!.split('.');
  return names.map((name) => (name.startsWith('.') ? `${part!}${name}` : name));
}

const text = readFileSync(file, 'utf8');
const rows = text.slice(text.indexOf('\n## Spec\n')).split('\n\n')[2]!.split('\n');
const listed = rows.slice(2).flatMap(keysOfRow);

it('has no key twice, and only keys of the spec', () => {
  const isKey = (key: string): boolean => {
    let node: Node | undefined = schema;
    for (const step of key.split('.')) node = node?.properties?.[step];
    return node !== undefined;
  };
  expect(listed.filter((key) => !isKey(key))).toEqual([]);
  expect(new Set(listed).size).toBe(listed.length);
});

it('has every key, or the part of the spec that it is in', () => {
  const missing = (node: Node, key: string): readonly string[] => {
    if (listed.includes(key)) return [];
    const inner = Object.entries(node.properties ?? {});
    if (inner.length === 0) return [key];
    return inner.flatMap(([name, each]) =>
      missing(each, key === '' ? name : `${key}.${name}`),
    );
  };
  expect(missing(schema, '')).toEqual([]);
});
