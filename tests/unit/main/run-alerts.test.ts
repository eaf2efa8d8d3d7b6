/** The state of the alert rules of a run is kept as long as it is in progress. */
import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from './sample-records.ts';

let directory: string;
let file: string;
let store: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-watches-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
  const spec = sampleSpec({ world: { ranks: 2, nodes: ['here', 'box'] } });
  store.create({ id: 'r', spec, switches: [], createdAt: 1 });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

function watches(): number {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .prepare<[], number>('SELECT count(*) FROM alert_watches')
      .pluck()
      .get()!;
  } finally {
    database.close();
  }
}

const failed = (code: string) => ({ code, kind: 'failure', message: 'gone' }) as const;

test('late records of an ended run are not watched', () => {
  store.records.append('r', entries([started, done]), { node: 'here' });
  expect(watches()).toBe(1);
  store.ownRecords.endEarly('r');
  expect(watches()).toBe(0);
  store.records.append('r', entries([started, iterationRecord(0, 1)]), { node: 'box' });
  expect(watches()).toBe(0);
});

test('a run that failed without a last record is watched no more', () => {
  store.records.append('r', entries([started]), { node: 'here' });
  store.fail('r', failed('RUN_FAILED'), 5);
  expect(watches()).toBe(0);
});

test('a run that was presumed lost is watched as before once it is reopened', () => {
  store.records.append('r', entries([started]), { node: 'here' });
  store.fail('r', failed('RUN_LOST'), 5);
  expect(watches()).toBe(1);
  store.presumed.reopen('r');
  store.records.append('r', entries([iterationRecord(0, 0), done], 1), {
    node: 'here',
  });
  store.ownRecords.endEarly('r');
  expect(watches()).toBe(0);
});
