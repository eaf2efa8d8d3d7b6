/** A run over several nodes in the store: a journal of each, one sequence for all. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runsMigration } from '../../../src/main/store/migrations/001-runs.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
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

describe('the journals of several nodes', () => {
  const nodes = ['here', 'box'];
  const create2 = (): void => {
    create('run1', { world: { ranks: 2, nodes: [...nodes, 'idle'] } });
  };
  const of = (rank: number, count: number, ...last: RunRecord[]): JournalEntry[] =>
    entries([
      started,
      ...Array.from({ length: count }, (_, i) => iterationRecord(i, rank)),
      ...last,
    ]);
  const finished: RunRecord = { type: 'finished', at: 3, node: 'box' };
  const failed = (code: string, rank: number): RunRecord => ({
    type: 'failed',
    at: 7,
    error: { code, kind: 'failure', message: code, rank },
  });

  test('are stored in any order of arrival, each once, under one sequence', () => {
    create2();
    const here = of(0, 5, done);
    const box = of(1, 5, finished);
    for (const step of [0, 2, 4]) {
      store.records.append('run1', here.slice(0, step + 3), { node: 'here' });
      store.records.append('run1', box.slice(0, step + 3), { node: 'box' });
    }
    const stored = store.reads.entriesAfter('run1', 0);
    expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, i) => i + 1));
    expect(stored).toHaveLength(here.length + box.length);
    expect(stored.at(-1)!.record).toEqual(done);
    expect(store.journals.position('run1', 'box')).toBe(box.length);
    expect(store.summary('run1')).toMatchObject({ state: 'completed', iterations: 5 });
  });

  test('end the run when all have: a result waits for the other nodes', () => {
    create2();
    store.records.append('run1', of(0, 3, done), { node: 'here' });
    expect(store.summary('run1').state).toBe('running');
    expect(store.journals.endings('run1')).toEqual({
      someEnded: true,
      open: ['box'],
      failure: undefined,
    });
    const { summary } = store.records.append('run1', of(1, 3, finished), {
      node: 'box',
    });
    expect(summary.state).toBe('completed');
  });

  test.each([
    ['PEER_LOST', 'WORKER_DIED'],
    ['WORKER_DIED', 'PEER_LOST'],
  ])('a failure that explains the others is the one of the run: %s, %s', (a, b) => {
    create2();
    store.records.append('run1', of(0, 3, failed(a, 0)), { node: 'here' });
    store.records.append('run1', of(1, 2, failed(b, 1)), { node: 'box' });
    const { state, error } = store.summary('run1');
    expect([state, error?.code]).toEqual(['failed', 'WORKER_DIED']);
  });

  test('a failure on one node outweighs a result on another', () => {
    create2();
    store.records.append('run1', of(0, 3, done), { node: 'here' });
    const { summary } = store.records.append('run1', of(1, 3, failed('X', 1)), {
      node: 'box',
    });
    expect(summary).toMatchObject({ state: 'failed', error: { code: 'X' } });
  });

  test('a node that does not come back holds nothing up; what it has comes later', () => {
    create2();
    store.records.append('run1', of(1, 1), { node: 'box' });
    expect(store.ownRecords.endEarly('run1').entries).toEqual([]);
    store.records.append('run1', of(0, 3, failed('PEER_LOST', 0)), { node: 'here' });
    const { summary, entries: told } = store.ownRecords.endEarly('run1', { seen: 6 });
    expect(summary).toMatchObject({ state: 'failed', error: { code: 'PEER_LOST' } });
    expect(told.map(({ record }) => record.type)).toEqual(['failed']);
    expect(store.ownRecords.endEarly('run1').entries).toEqual([]);
    const late = store.records.append('run1', of(1, 3, failed('WORKER_DIED', 1)), {
      node: 'box',
      seen: 7,
    });
    expect(late.entries.map(({ record }) => record.type)).toEqual([
      'iteration',
      'iteration',
    ]);
    expect(late.summary.error?.code).toBe('PEER_LOST');
  });

  test('a node that begins after the end does not begin the run again', () => {
    create2();
    store.records.append('run1', of(0, 3, done), { node: 'here' });
    const { endedAt, state } = store.ownRecords.endEarly('run1').summary;
    expect(state).toBe('completed');
    const late = store.records.append('run1', of(1, 3), { node: 'box' });
    expect(late.summary).toMatchObject({ state: 'completed', endedAt });
    expect(store.runs.unended()).toEqual([]);
  });

  test('a node that begins after the run was presumed lost begins it again', () => {
    create2();
    const lost = { code: 'RUN_LOST', kind: 'failure', message: 'gone' } as const;
    store.fail('run1', lost, 5);
    store.presumed.reopen('run1');
    expect(store.records.append('run1', of(0, 1), { node: 'here' }).summary.state).toBe(
      'running',
    );
  });

  test('a refused record fails the run, wherever it comes from', () => {
    create2();
    store.records.append('run1', of(0, 3, done), { node: 'here' });
    const bad = { ...iterationRecord(0, 1), loss: NaN } as RunRecord;
    const { summary } = store.records.append(
      'run1',
      entries([started, bad, finished]),
      {
        node: 'box',
      },
    );
    expect(summary).toMatchObject({
      state: 'failed',
      error: { code: 'RECORD_INVALID' },
    });
  });

  test('a gap in one is a gap, whatever the others have', () => {
    create2();
    store.records.append('run1', of(0, 5), { node: 'here' });
    expect(() =>
      store.records.append('run1', of(1, 5).slice(2), { node: 'box' }),
    ).toThrow(expect.objectContaining({ code: 'RECORDS_MISSING' }));
    expect(() => store.records.append('run1', of(1, 1), { node: 'idle' })).toThrow(
      expect.objectContaining({ code: 'RECORD_INVALID' }),
    );
  });
});

describe('a database of the first version', () => {
  test('has the journal of its one node where it was', () => {
    store.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    const raw = new Database(file);
    raw.exec(runsMigration);
    const run = entries([started, iterationRecord(0, 0), iterationRecord(0, 1), done]);
    const spec = JSON.stringify(sampleSpec({ world: { ranks: 2, nodes: ['here'] } }));
    raw
      .prepare(
        `INSERT INTO runs (id, name, spec, switches, state, created_at, last_sequence,
          iterations, iterations_planned, ranks, model, dataset, methods)
        VALUES ('old', 'old', ?, '[]', 'running', 1, 3, 1, 10, 2, 'm', 'd', '["none"]')`,
      )
      .run(spec);
    raw.pragma('user_version = 1');
    raw.close();
    store = RunStore.open(file);
    expect(store.journals.position('old', 'here')).toBe(3);
    expect(store.records.append('old', run).summary.state).toBe('completed');
  });
});
