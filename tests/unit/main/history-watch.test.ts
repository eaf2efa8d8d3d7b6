/** News that a page's process notices of the history when a look fails or a row is damaged. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HistoryWatch } from '../../../src/main/app/history-watch.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec, wholeRun } from './sample-records.ts';

let home: TemporaryStore;
let watch: HistoryWatch;
beforeEach(() => {
  home = new TemporaryStore();
  for (const id of ['one', 'two']) {
    home.store.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
    home.store.records.append(id, wholeRun(2));
  }
  watch = new HistoryWatch(home.store);
});
afterEach(() => {
  vi.restoreAllMocks();
  home.close();
});

const changed = (): readonly string[] => watch.look().changed.map(({ id }) => id);

it('tells at the next look what one that failed would have told', () => {
  home.store.setDeleted('one', true);
  home.store.setDeleted('two', true);
  home.store.purge('two');
  for (const step of home.store.space.clear()) expect(step).toBeUndefined();
  for (const part of ['newest', 'unended'] as const) {
    const read = vi.spyOn(home.store.runs, part).mockImplementationOnce(() => {
      throw new Error('the disk is away');
    });
    expect(() => watch.look()).toThrow('the disk is away');
    read.mockRestore();
  }
  const { changed: runs, isPurged } = watch.look();
  expect(runs.map(({ id }) => id)).toEqual(['one']);
  expect(isPurged).toBe(true);
  expect(watch.look()).toEqual({ changed: [], isPurged: false });
});

it('leaves out a run whose row is damaged, not the others', () => {
  home.store.setDeleted('one', true);
  home.store.setDeleted('two', true);
  const other = new Database(home.store.file);
  other.exec(`UPDATE runs SET spec = '{' WHERE id = 'one'`);
  other.close();
  expect(changed()).toEqual(['two']);
  expect(changed()).toEqual([]);
});
