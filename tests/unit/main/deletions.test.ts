/** Deletion, restoring and purge of a run, while another process changes it. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RunRows } from '../../../src/main/store/run-rows.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec, wholeRun } from './sample-records.ts';

let home: TemporaryStore;
beforeEach(() => {
  home = new TemporaryStore();
  const spec = sampleSpec();
  home.store.create({ id: 'run', spec, switches: [], createdAt: 1 });
  home.store.records.append('run', wholeRun(2));
  home.store.setDeleted('run', true);
});
afterEach(() => {
  vi.restoreAllMocks();
  home.close();
});

/**
 * Writes as another process does, as soon as the run's row is read here.
 * @returns whether the other process has to wait, once it has tried
 */
function meanwhile(sql: string): () => boolean {
  let waits = false;
  const read = Object.getOwnPropertyDescriptor(RunRows.prototype, 'row')!
    .value as RunRows['row'];
  vi.spyOn(RunRows.prototype, 'row').mockImplementationOnce(function (
    this: RunRows,
    id: string,
  ) {
    const row = read.call(this, id);
    const other = new Database(home.store.file, { timeout: 0 });
    try {
      other.exec(sql);
    } catch (error) {
      waits = error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY';
      if (!waits) throw error;
    } finally {
      other.close();
    }
    return row;
  });
  return () => waits;
}

it('does not restore a run that is purged meanwhile', () => {
  const waits = meanwhile('UPDATE runs SET deleted = 2');
  home.store.setDeleted('run', false);
  expect(waits()).toBe(true);
  expect(home.store.summary('run').deleted).toBe(false);
});

it('does not delete a run that is reopened meanwhile', () => {
  home.store.setDeleted('run', false);
  const waits = meanwhile(`UPDATE runs SET state = 'running'`);
  home.store.setDeleted('run', true);
  expect(waits()).toBe(true);
  expect(home.store.summary('run').state).toBe('completed');
});

it('does not purge a run that is restored meanwhile', () => {
  const waits = meanwhile('UPDATE runs SET deleted = 0');
  home.store.purge('run');
  expect(waits()).toBe(true);
  expect(home.store.space.isPurged('run')).toBe(true);
});
