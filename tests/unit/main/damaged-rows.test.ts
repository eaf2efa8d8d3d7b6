/** Rows of the history that were damaged, or that another program wrote. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { nodeEntrySchema } from '../../../src/shared/machines/node-entry.ts';
import { sampleSpec, wholeRun } from './sample-records.ts';

let directory: string;
let file: string;
let store: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-damaged-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
  for (const id of ['whole', 'other']) {
    store.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
    store.records.append(id, wholeRun(3));
  }
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

const damage = (sql: string, ...values: string[]): void => {
  const database = new Database(file);
  database.prepare(sql).run(...values);
  database.close();
};
const invalid = (words: string): unknown =>
  expect.objectContaining({
    code: 'HISTORY_ROW_INVALID',
    message: expect.stringContaining(words) as string,
  });

test.each([
  ['spec', '{'],
  ['spec', '{"world":{"ranks":2}}'],
  ['spec', '[]'],
  ['spec', '{"world":{"ranks":2,"nodes":["a"]},"network":{"pairs":3}}'],
  ['methods', '"topk"'],
  ['methods', 'top'],
  ['error', '{"code":7}'],
  ['metric_kind', '{"id":"own"}'],
])('a run whose %s is %s is left out of the list, by name', (column, value) => {
  damage(`UPDATE runs SET ${column} = ? WHERE id = 'other'`, value);
  expect(store.runs.list().map(({ id }) => id)).toEqual(['whole']);
  expect(store.runs.takeDamage()).toEqual([invalid(`run other, ${column}: `)]);
  expect(store.runs.list()).toHaveLength(1);
  // Once.
  expect(store.runs.takeDamage()).toEqual([]);
  expect(() => store.summary('other')).toThrow(invalid(`run other, ${column}: `));
  expect(() => store.reads.shown('other')).toThrow(invalid(`run other, ${column}: `));
  // What the error says to do.
  store.setDeleted('other', true);
  store.purge('other');
  for (const step of store.space.clear()) expect(step).toBeUndefined();
  expect(store.has('other')).toBe(false);
  expect(store.runs.list()).toHaveLength(1);
});

test('a run in progress with a damaged row keeps no other from being followed', () => {
  for (const id of ['first', 'second']) {
    store.create({ id, spec: sampleSpec(), switches: [], createdAt: 2 });
  }
  damage("UPDATE runs SET spec = 'x' WHERE id = 'first'");
  expect(store.runs.unended().map(({ id }) => id)).toEqual(['second']);
  expect(store.runs.takeDamage()).toEqual([invalid('run first, spec: it is not JSON')]);
});

test('a damaged machine is left out, named where it is asked for, and can be removed', () => {
  for (const name of ['box', 'lab']) {
    store.nodes.add(nodeEntrySchema.parse({ name, destination: name }));
  }
  damage("UPDATE nodes SET entry = '{}' WHERE name = 'box'");
  expect(store.nodes.list().map(({ name }) => name)).toEqual(['lab']);
  expect(() => store.nodes.named('box')).toThrow(invalid('machine box: '));
  store.nodes.remove('box');
  expect(() => store.nodes.named('box')).toThrow(
    expect.objectContaining({ code: 'NODE_UNKNOWN' }),
  );
});
