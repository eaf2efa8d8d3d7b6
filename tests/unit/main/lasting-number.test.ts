/** Numbers of runs and notes, which no later one gets. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { sampleSpec, wholeRun } from './sample-records.ts';

let directory: string;
let file: string;
let store: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-numbers-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

const create = (id: string): void => {
  store.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
};

function purge(id: string): void {
  store.records.append(id, wholeRun(2));
  store.setDeleted(id, true);
  store.purge(id);
  for (const step of store.space.clear()) expect(step).toBeUndefined();
}

/** Reads or changes the database behind the store. */
function behind<T>(work: (database: Database.Database) => T): T {
  const database = new Database(file);
  // Other tables may refer to a number that is changed here.
  database.pragma('foreign_keys = OFF');
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const numberOf = (id: string): unknown =>
  behind((database) =>
    database.prepare('SELECT number FROM runs WHERE id = ?').pluck().get(id),
  );

test('a purged run takes its number with it, also over the end of the process', () => {
  create('first');
  create('second');
  expect([numberOf('first'), numberOf('second')]).toEqual([1, 2]);
  purge('second');
  create('third');
  expect(numberOf('third')).toBe(3);
  purge('third');
  purge('first');
  store.close();
  store = RunStore.open(file);
  create('fourth');
  expect(numberOf('fourth')).toBe(4);
});

test('a database of before keeps its numbers, and rows without one are counted', () => {
  create('first');
  store.close();
  behind((database) => {
    database.exec(`DROP TABLE last_numbers; UPDATE runs SET number = 41`);
    database.pragma('user_version = 22');
  });
  store = RunStore.open(file);
  create('second');
  expect(numberOf('second')).toBe(42);
  behind((database) => database.exec(`UPDATE runs SET number = 50 WHERE number = 42`));
  create('third');
  expect(numberOf('third')).toBe(51);
});

test('a removed note takes its id with it: a page that still shows it cannot remove another', () => {
  create('run');
  const { annotations } = store;
  const first = annotations.writeNote('run', { text: 'one' });
  annotations.removeNote('run', first.id);
  const second = annotations.writeNote('run', { text: 'two' });
  expect(second.id).toBeGreaterThan(first.id);
  expect(() => annotations.removeNote('run', first.id)).toThrow(
    expect.objectContaining({ code: 'NOTE_UNKNOWN' }),
  );
  expect(annotations.notes('run').map(({ text }) => text)).toEqual(['two']);
});

test('a change of what is written on a run has a number of its own: whoever has seen the last one finds it', () => {
  for (const id of ['old', 'tagged', 'other']) create(id);
  const { annotations } = store;
  annotations.tag(['old'], 'first', true);
  annotations.tag(['tagged'], 'second', true);
  const seen = annotations.latest();
  purge('tagged');
  expect(annotations.latest()).toBe(seen);
  annotations.tag(['other'], 'third', true);
  expect(annotations.changedAfter(seen)).toEqual(['other']);
});
