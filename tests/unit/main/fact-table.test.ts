/** What was found out about machines, in a real database. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parsePreflight } from '../../../src/main/deploy/preflight.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';

const preflight = parsePreflight('hostname=lab-3\nsystem=Linux\ncores=8', 0);
const box = { name: 'box', identity: 'box.lab' };
const agent = 'a'.repeat(32);

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-facts-'));
  file = path.join(directory, 'gradwire.db');
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** Another process, or the app after a restart. */
function again<T>(use: (store: RunStore) => T): T {
  const store = RunStore.open(file);
  try {
    return use(store);
  } finally {
    store.close();
  }
}

test('a report and its time are there after a restart; the agent comes and goes', () => {
  again(({ facts }) => {
    facts.note(box, { preflight, checkedAt: 17 });
    facts.note(box, { agent });
  });
  // As JSON has it: without what is undefined.
  const stored = JSON.parse(JSON.stringify(preflight)) as unknown;
  const seen = again(({ facts }) => facts.of(box));
  expect(seen).toEqual({ preflight: stored, checkedAt: 17, agent });
  again(({ facts }) => {
    facts.note(box, { agent: undefined });
  });
  const left = again(({ facts }) => facts.of(box));
  expect(left).toEqual({ preflight: stored, checkedAt: 17 });
});

test('another machine of that name is not known', () => {
  const facts = again((store) => {
    store.facts.note(box, { agent });
    return store.facts.of({ ...box, identity: 'elsewhere' });
  });
  expect(facts).toEqual({});
});

test('they follow a renamed machine, and go with a removed one', () => {
  const before = parseNodeEntry({ name: 'box', destination: 'box.lab' });
  again(({ facts, nodes }) => {
    nodes.add(before);
    facts.note(box, { agent });
    nodes.replace(before, { ...before, name: 'crate' });
    expect(facts.of({ ...box, name: 'crate' })).toEqual({ agent });
    nodes.remove('crate');
    expect(facts.of({ ...box, name: 'crate' })).toEqual({});
  });
});

test('a report in a form of another version is none', () => {
  again(({ facts }) => {
    facts.note(box, { preflight, checkedAt: 17, agent });
  });
  const database = new Database(file);
  database.exec(`UPDATE node_facts SET preflight = '{"hostname":"lab-3"}'`);
  database.close();
  const facts = again((store) => store.facts.of(box));
  expect(facts).toEqual({ agent });
});
