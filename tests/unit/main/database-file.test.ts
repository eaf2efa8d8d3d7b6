/** The file of the database: its version, and what is no database. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DATABASE_VERSION } from '../../../src/main/store/database.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { sampleSpec } from './sample-records.ts';

let directory: string;
let file: string;
let store: RunStore;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-store-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

describe('the database file', () => {
  const reopen = (): void => {
    store.close();
    store = RunStore.open(file);
  };

  test('a new one is made at the newest version, and opens again', () => {
    store.create({ id: 'run1', spec: sampleSpec(), switches: [], createdAt: 1000 });
    reopen();
    expect(store.summary('run1').id).toBe('run1');
    const raw = new Database(file);
    expect(raw.pragma('user_version', { simple: true })).toBe(DATABASE_VERSION);
    expect(raw.pragma('journal_mode', { simple: true })).toBe('wal');
    raw.close();
  });

  test('one from a newer Gradwire is left alone', () => {
    const raw = new Database(file);
    raw.pragma(`user_version = ${DATABASE_VERSION + 1}`);
    raw.close();
    expect(reopen).toThrow(expect.objectContaining({ code: 'DATABASE_TOO_NEW' }));
  });

  test('one that is no database is named', () => {
    store.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    writeFileSync(file, 'not a database, but long enough to be looked at'.repeat(50));
    expect(() => RunStore.open(file)).toThrow(
      expect.objectContaining({
        code: 'DATABASE_CORRUPT',
        message: expect.stringContaining(file) as string,
      }),
    );
    rmSync(file);
    store = RunStore.open(file);
  });

  test('a directory in its place is a coded error', () => {
    expect(() => RunStore.open(directory)).toThrow(
      expect.objectContaining({ code: 'DATABASE_UNREADABLE' }),
    );
  });
});
