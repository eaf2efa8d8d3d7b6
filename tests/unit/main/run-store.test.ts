import Database from 'better-sqlite3';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DATABASE_VERSION } from '../../../src/main/store/database.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
  wholeRun,
} from './sample-records.ts';

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

function create(id = 'run1', overrides = {}): void {
  store.create({ id, spec: sampleSpec(overrides), switches: [], createdAt: 1000 });
}

function stored(id = 'run1'): RunRecord[] {
  const records: RunRecord[] = [];
  let after = 0;
  for (;;) {
    const page = store.entriesAfter(id, after);
    if (page.length === 0) return records;
    expect(page[0]!.sequence).toBe(after + 1);
    records.push(...page.map(({ record }) => record));
    after = page.at(-1)!.sequence;
  }
}

describe('appending', () => {
  test('stores every record as it is, in the order of the journal', () => {
    create();
    const run = wholeRun(10);
    store.append('run1', run);
    expect(stored()).toEqual(run.map(({ record }) => record));
  });

  test('what is delivered again is stored once, in batches of any size', () => {
    create();
    const run = wholeRun(10);
    for (const size of [1, 3, 7, 100]) {
      for (let from = 0; from < run.length; from += size) {
        store.append('run1', run.slice(Math.max(0, from - 2), from + size));
      }
    }
    expect(stored()).toEqual(run.map(({ record }) => record));
    expect(store.lastSequence('run1')).toBe(run.length);
  });

  test('a gap is a defect and stores nothing', () => {
    create();
    const run = wholeRun(4);
    store.append('run1', run.slice(0, 3));
    expect(() => store.append('run1', run.slice(4))).toThrow(
      /internal: .* 5 follows 3/,
    );
    expect(stored()).toHaveLength(3);
  });

  test('a record that does not fit its schema is a defect and stores nothing', () => {
    create();
    const bad = { ...iterationRecord(0, 0), wall: -1 };
    expect(() => store.append('run1', entries([started, bad]))).toThrow(
      /internal: run run1: record 2 is not valid: wall/,
    );
    expect(stored()).toHaveLength(0);
    expect(store.summary('run1').state).toBe('starting');
  });
});

describe('the summary', () => {
  test('counts iterations that every rank has finished, and takes their mean loss', () => {
    create();
    const records = [
      started,
      iterationRecord(0, 0),
      iterationRecord(1, 0),
      iterationRecord(0, 1),
    ];
    expect(store.append('run1', entries(records))).toMatchObject({
      state: 'running',
      iterations: 1,
      loss: 0.5,
    });
    const next = entries([iterationRecord(1, 1)], 4);
    expect(store.append('run1', next)).toMatchObject({ iterations: 2, loss: 10.5 });
  });

  test('follows evaluations, switches and the end', () => {
    create();
    const run = entries([
      started,
      switchRecord(3, 'none', 'topk'),
      switchRecord(5, 'topk', 'topk'),
      switchRecord(6, 'topk', 'none'),
      done,
    ]);
    const summary = store.append('run1', run);
    expect(summary.methods).toEqual(['none', 'topk', 'none']);
    expect(summary).toMatchObject({
      state: 'completed',
      metric: 0.97,
      endedAt: 1_700_000_001_000,
    });
    expect(summary).not.toHaveProperty('error');
    expect(summary).not.toHaveProperty('loss');
  });

  test('a failed run keeps its error; failing an ended run changes nothing', () => {
    create('a');
    create('b');
    const error = {
      code: 'WORKER_DIED',
      kind: 'failure',
      message: 'x',
      rank: 2,
    } as const;
    store.append('a', entries([started, { type: 'failed', at: 5, error }]));
    expect(store.fail('a', { ...error, code: 'RUN_LOST' }, 9)).toMatchObject({
      state: 'failed',
      error,
      endedAt: 5,
    });
    expect(store.fail('b', error, 9)).toMatchObject({ state: 'failed', error });
    expect(store.unended()).toEqual([]);
  });
});

describe('reading', () => {
  test('iterations by range and stride', () => {
    create();
    store.append('run1', wholeRun(10));
    const read = store.iterations('run1', { from: 3, to: 9, stride: 2 });
    expect(
      read.map(({ record }) => (record.type === 'iteration' ? record : undefined)),
    ).toEqual([4, 6, 8].flatMap((n) => [iterationRecord(n, 0), iterationRecord(n, 1)]));
  });

  test('detail holds all events and no iteration', () => {
    create();
    const run = wholeRun(10);
    store.append('run1', run);
    const detail = store.detail('run1');
    expect(detail.events).toEqual(
      run.map(({ record }) => record).filter(({ type }) => type !== 'iteration'),
    );
    expect(detail.lastSequence).toBe(run.length);
    expect(detail.spec).toEqual(sampleSpec());
  });

  test('lists newest first, searches literally, and keeps the deleted apart', () => {
    create('a', { name: '100 % dense' });
    create('b', { name: '100 of them' });
    store.append('a', entries([started, done]));
    expect(store.list().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(store.list({ search: '100 %' }).map(({ id }) => id)).toEqual(['a']);
    expect(store.list({ limit: 1, offset: 1 }).map(({ id }) => id)).toEqual(['a']);
    store.setDeleted('a', true);
    expect(store.list().map(({ id }) => id)).toEqual(['b']);
    expect(store.list({ deleted: true }).map(({ id }) => id)).toEqual(['a']);
    store.setDeleted('a', false);
    expect(store.list()).toHaveLength(2);
    expect(() => store.setDeleted('b', true)).toThrow(
      expect.objectContaining({ code: 'RUN_NOT_ENDED' }),
    );
  });

  test('names a run by a beginning of its id that is unique', () => {
    create('abc1');
    create('abd2');
    expect(store.resolve('abd')).toBe('abd2');
    expect(store.resolve('abc1')).toBe('abc1');
    const code = (value: string) => expect.objectContaining({ code: value });
    expect(() => store.resolve('ab')).toThrow(code('RUN_AMBIGUOUS'));
    expect(() => store.resolve('x')).toThrow(code('RUN_UNKNOWN'));
    expect(() => store.resolve('')).toThrow(code('RUN_UNKNOWN'));
    expect(() => store.summary('ab')).toThrow(code('RUN_UNKNOWN'));
  });
});

describe('the database file', () => {
  const reopen = (): void => {
    store.close();
    store = RunStore.open(file);
  };

  test('a new one is made at the newest version, and opens again', () => {
    create();
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
