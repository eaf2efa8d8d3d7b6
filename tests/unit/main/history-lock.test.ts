/** A history that another process writes to: it is opened and read all the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { entries, sampleSpec, started } from './sample-records.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-lock-'));
  file = path.join(directory, 'gradwire.db');
  const store = RunStore.open(file);
  store.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  store.records.append('r', entries([started]));
  store.close();
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

test('is opened and read without a wait, and not kept up meanwhile', () => {
  const other = new Database(file);
  other.exec('BEGIN IMMEDIATE');
  const store = RunStore.open(file);
  expect(store.summary('r')).toMatchObject({ state: 'running' });
  expect(store.reads.entriesAfter('r', 0)).toHaveLength(1);
  expect(() => store.space.compactIfFree()).toThrow('another process holds');
  other.exec('COMMIT');
  expect(store.space.compactIfFree()).toBe(false);
  store.close();
  other.close();
});
