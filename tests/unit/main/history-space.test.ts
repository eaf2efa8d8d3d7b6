/** What a purge takes and leaves, and who may read the files. */
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { HistoryWatch } from '../../../src/main/app/history-watch.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import {
  entries,
  iterationRecord,
  sampleSpec,
  started,
  wholeRun,
} from './sample-records.ts';

let directory: string;
let file: string;
let store: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-space-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

function fill(id: string, overrides = {}): void {
  store.create({ id, spec: sampleSpec(overrides), switches: [], createdAt: 1 });
  store.records.append(id, wholeRun(1500));
}
const clear = (): void => {
  for (const step of store.space.clear()) expect(step).toBeUndefined();
};
const code = (value: string): unknown => expect.objectContaining({ code: value });

describe('a purge', () => {
  it('takes the run with all of its records, gives the space back, and leaves the others', () => {
    fill('kept');
    const before = statSync(file).size + statSync(`${file}-wal`).size;
    fill('gone');
    store.setDeleted('gone', true);
    expect(store.space.deleted()).toEqual({
      runs: 1,
      bytes: store.summary('gone').bytes,
    });
    store.purge('gone');
    clear();
    expect(store.space.bytes).toBeLessThanOrEqual(before);
    expect(store.has('gone')).toBe(false);
    expect(() => store.setDeleted('gone', false)).toThrow(code('RUN_PURGED'));
    expect(() => store.records.append('gone', wholeRun(2))).toThrow(code('RUN_PURGED'));
    // A machine may still have its journal.
    expect(store.space.isPurged('gone')).toBe(true);
    expect(store.space.isPurged('kept')).toBe(false);
    const found = [...store.reads.allIterations('kept')];
    expect(found).toHaveLength(3000);
    const again = wholeRun(1500);
    expect(found).toEqual(
      again.map(({ record }) => record).filter(({ type }) => type === 'iteration'),
    );
  });

  it('never gives its number to a later run, of which another process may still have records', () => {
    // As a page's process that stored a run, and keeps its newest records until it moves them.
    store.create({ id: 'gone', spec: sampleSpec(), switches: [], createdAt: 1 });
    store.records.append('gone', wholeRun(100).slice(0, 150));
    // As a command does in the meantime.
    const command = RunStore.open(file);
    const wall = 77;
    try {
      command.records.append('gone', wholeRun(100));
      command.setDeleted('gone', true);
      command.purge('gone');
      for (const step of command.space.clear()) expect(step).toBeUndefined();
      command.create({ id: 'next', spec: sampleSpec(), switches: [], createdAt: 2 });
      const other = wholeRun(100).map(({ record, sequence }) => ({
        sequence,
        record: record.type === 'iteration' ? { ...record, wall } : record,
      }));
      // All but its end, so that the other process has to move them.
      command.records.append('next', other.slice(0, -1));
      store.records.append('next', other);
    } finally {
      command.close();
    }
    while (store.space.compact()) continue;
    const found = [...store.reads.allIterations('next')];
    expect(found).toHaveLength(200);
    expect(new Set(found.map((record) => record.wall))).toEqual(new Set([wall]));
  });

  it('that is cut short hides the run at once, and is completed by the next one', () => {
    fill('gone');
    store.setDeleted('gone', true);
    store.purge('gone');
    store.space.clear().next();
    store.close();
    store = RunStore.open(file);
    expect(store.has('gone')).toBe(false);
    expect(store.runs.list({ deleted: true })).toEqual([]);
    expect(store.space.isPurged('gone')).toBe(true);
    clear();
    expect(store.space.isPurged('gone')).toBe(true);
    expect(store.space.bytes).toBeLessThan(300_000);
  });

  it('is for deleted runs that have ended and that nobody stores', () => {
    fill('kept');
    expect(() => store.purge('kept')).toThrow(code('RUN_NOT_DELETED'));
    expect(() => store.purge('nobody')).toThrow(code('RUN_UNKNOWN'));
    // It was called lost and deleted, and then a machine had it.
    const spec = sampleSpec();
    store.create({ id: 'lost', spec, switches: [], createdAt: 1 });
    const error = { code: 'RUN_LOST', kind: 'failure', message: 'x' } as const;
    store.fail('lost', error, 5);
    store.setDeleted('lost', true);
    expect(store.presumed.reopen('lost')).toBe(true);
    expect(() => store.purge('lost')).toThrow(code('RUN_NOT_ENDED'));
    // It failed on one machine, and another's records are still coming in.
    const world = { ranks: 2, nodes: ['a', 'b'] };
    store.create({
      id: 'open',
      spec: sampleSpec({ world }),
      switches: [],
      createdAt: 1,
    });
    const at = 7;
    store.records.append('open', entries([started, { type: 'failed', at, error }]), {
      node: 'a',
    });
    store.ownRecords.endEarly('open');
    store.setDeleted('open', true);
    store.records.append('open', entries([iterationRecord(0, 1)]), { node: 'b' });
    expect(() => store.purge('open')).toThrow(code('RUN_BEING_STORED'));
  });
});

test.skipIf(process.platform === 'win32')(
  'the database and its log are for their user alone, whatever they were before',
  () => {
    const modes = (): string[] =>
      ['', '-wal', '-shm'].map((suffix) =>
        (statSync(file + suffix).mode & 0o777).toString(8),
      );
    expect(modes()).toEqual(['600', '600', '600']);
    for (const suffix of ['', '-wal', '-shm']) chmodSync(file + suffix, 0o644);
    const other = RunStore.open(file);
    expect(modes()).toEqual(['600', '600', '600']);
    other.close();
    // Made by others, before there was one.
    store.close();
    rmSync(file);
    writeFileSync(file, '', { mode: 0o666 });
    chmodSync(file, 0o666);
    store = RunStore.open(file);
    expect(modes()).toEqual(['600', '600', '600']);
  },
);

test('the app notices what a command does to runs that have ended', () => {
  for (const id of ['a', 'b', 'c']) {
    store.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
    store.records.append(id, wholeRun(1));
  }
  const app = RunStore.open(file);
  try {
    const watch = new HistoryWatch(app);
    const news = () => {
      const { changed, isPurged } = watch.look();
      return [changed.map(({ deleted, id }) => [id, deleted]), isPurged];
    };
    expect(news()).toEqual([[], false]);
    store.setDeleted('a', true);
    store.setDeleted('b', true);
    expect(news()).toEqual([
      [
        ['a', true],
        ['b', true],
      ],
      false,
    ]);
    // The app restores it, and the command deletes it again.
    app.setDeleted('a', false);
    watch.note(app.summary('a'));
    store.setDeleted('a', true);
    expect(news()).toEqual([[['a', true]], false]);
    store.setDeleted('a', false);
    store.purge('b');
    expect(news()).toEqual([[['a', false]], true]);
    // What is left of it goes later.
    clear();
    expect(news()).toEqual([[], false]);
    // Between two looks.
    store.setDeleted('c', true);
    store.purge('c');
    clear();
    expect(news()).toEqual([[], true]);
    expect(() => app.reads.shown('c')).toThrow(code('RUN_PURGED'));
    expect(() => app.reads.shown('d')).toThrow(code('RUN_UNKNOWN'));
  } finally {
    app.close();
  }
});
