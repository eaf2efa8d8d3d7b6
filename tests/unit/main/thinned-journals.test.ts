/** Journals that leave out details, as the store takes them: what is missing is told, once. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runsMigration } from '../../../src/main/store/migrations/001-runs.ts';
import { journalsMigration } from '../../../src/main/store/migrations/002-journals.ts';
import { nodesMigration } from '../../../src/main/store/migrations/003-nodes.ts';
import { linksMigration } from '../../../src/main/store/migrations/004-links.ts';
import { logLinesMigration } from '../../../src/main/store/migrations/005-log-lines.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type {
  JournalEntry,
  JournalThinning,
} from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import {
  done,
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
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-store-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

function create(overrides = {}): void {
  store.create({ id: 'r', spec: sampleSpec(overrides), switches: [], createdAt: 1 });
}

const AT = 1_700_000_000_000;

const thinning = (to: number, every: number): JournalThinning => ({
  ...{ at: AT, limitBytes: 1_000_000, iterations: { to, every } },
});

/** What is left of a journal; the first entry behind the last gap tells of it. */
function thin(
  all: readonly JournalEntry[],
  keeps: (record: RunRecord) => boolean,
  told: JournalThinning,
): JournalEntry[] {
  const kept = all.filter(({ record }) => keeps(record));
  const last = kept.findLastIndex(
    ({ sequence }, i) => sequence !== (kept[i - 1]?.sequence ?? 0) + 1,
  );
  return kept.map((entry, i) => {
    const follows = kept[i - 1]?.sequence ?? 0;
    return {
      ...entry,
      ...(follows === entry.sequence - 1 ? {} : { follows }),
      ...(i === last ? { thinned: told } : {}),
    };
  });
}

const everyOf =
  (to: number, every: number) =>
  (record: RunRecord): boolean =>
    record.type !== 'iteration' ||
    record.iteration >= to ||
    record.iteration % every === 0;

const events = () => store.reads.detail('r').events;
const thinned = () => events().filter(({ type }) => type === 'thinned');

describe('what a journal left out', () => {
  const all = wholeRun(40);
  const left = thin(all, everyOf(30, 4), thinning(30, 4));
  const missing = all.length - left.length;

  test('is reported by a record in its place; the run’s end is unchanged', () => {
    create();
    for (const entry of left) store.records.append('r', [entry]);
    expect(thinned()).toEqual([
      {
        type: 'thinned',
        at: AT,
        node: 'this-computer',
        records: missing,
        ...{ iterations: { from: 1, to: 30, every: 4 }, limitBytes: 1_000_000 },
      },
    ]);
    expect(store.summary('r')).toMatchObject({
      state: 'completed',
      iterations: 40,
      loss: 390.5,
    });
    // The run's own sequence has no gap.
    const stored = store.reads.entriesAfter('r', 0);
    expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, i) => i + 1));
    expect(stored).toHaveLength(left.length + 1);
    const told = stored.findIndex(({ record }) => record.type === 'thinned');
    expect(stored[told + 1]!.record).toEqual(
      left.find((entry) => entry.thinned !== undefined)!.record,
    );
  });

  test.each([1, 7, 30, 61, 62, 63])(
    'is counted for who has the first %i of its records already',
    (known) => {
      create();
      store.records.append('r', all.slice(0, known));
      store.records.append('r', left);
      const lost = all.filter(
        ({ sequence }) =>
          sequence > known && !left.some((entry) => entry.sequence === sequence),
      );
      const [record, ...more] = thinned();
      expect(more).toEqual([]);
      expect(record).toMatchObject({ records: lost.length });
      const stored = store.reads.entriesAfter('r', 0).length - 1;
      expect(stored + lost.length).toBe(all.length);
    },
  );

  test('is no concern of who had stored it', () => {
    create();
    store.records.append('r', all.slice(0, 70));
    store.records.append('r', left);
    expect(thinned()).toEqual([]);
    expect(store.reads.entriesAfter('r', 0)).toEqual(all);
  });

  test('is reported once if two processes store the run', () => {
    create();
    const other = RunStore.open(file);
    other.records.append('r', left.slice(0, 9));
    store.records.append('r', left.slice(0, 12));
    other.records.append('r', left.slice(5));
    store.records.append('r', left);
    other.close();
    expect(thinned()).toMatchObject([{ records: missing }]);
  });

  test('is reported again when more is left out, without what was reported before', () => {
    create();
    store.records.append('r', left.slice(0, -20));
    const later = thin(all, everyOf(38, 8), thinning(38, 8));
    store.records.append('r', later);
    const stored = store.reads.entriesAfter('r', 0).length - 2;
    expect(thinned()).toMatchObject([
      { records: missing },
      { records: all.length - missing - stored, iterations: { to: 38, every: 8 } },
    ]);
    expect(thinned()[1]).not.toMatchObject({ records: 0 });
  });

  test('is missing where the journal does not say so', () => {
    create();
    const gap = left.findIndex(({ follows }) => follows !== undefined);
    const { sequence, record } = left[gap]!;
    const last = left[gap - 1]!.sequence;
    store.records.append('r', left.slice(0, gap));
    for (const entry of [
      { sequence, record },
      { ...left[gap]!, follows: last + 1 },
    ]) {
      expect(() => store.records.append('r', [entry])).toThrowError(
        expect.objectContaining({
          code: 'RECORDS_MISSING',
          message: `record ${sequence} follows record ${last}: those in between are missing`,
        }) as Error,
      );
    }
  });

  test('may be lines alone', () => {
    create();
    const line = (text: string): RunRecord => ({
      type: 'log',
      at: 1,
      rank: 0,
      stream: 'stdout',
      text,
    });
    const printed = entries([started, line('a'), line('b'), iterationRecord(0, 0)]);
    const without = ({ type }: RunRecord): boolean => type !== 'log';
    store.records.append('r', thin(printed, without, thinning(0, 1)));
    expect(thinned()).toEqual([
      {
        type: 'thinned',
        at: AT,
        node: 'this-computer',
        records: 2,
        limitBytes: 1_000_000,
      },
    ]);
  });

  test.each([
    ['a number', 5],
    ['a time that is none', { ...thinning(30, 4), at: NaN }],
    ['iterations of no shape', { ...thinning(30, 4), iterations: null }],
    ['a share below 0', { ...thinning(30, -4) }],
  ])('is no reason to wait where it is told by %s', (_, told) => {
    create();
    const strange = thin(all, everyOf(30, 4), told as JournalThinning);
    const { summary } = store.records.append('r', strange);
    // Told without its iterations, or the run fails by it; it ends either way.
    expect(['completed', 'failed']).toContain(summary.state);
    expect(summary.iterations).toBeGreaterThan(30);
    expect(store.journals.position('r', 'this-computer')).toBe(all.length);
  });
});

test('nodes that thin by themselves agree on multiples, and hold up no progress', () => {
  create({ world: { ranks: 2, nodes: ['here', 'box'] } });
  const of = (rank: number, last: RunRecord): JournalEntry[] =>
    entries([
      started,
      ...Array.from({ length: 64 }, (_, i) => iterationRecord(i, rank)),
      last,
    ]);
  const here = thin(of(0, done), everyOf(33, 2), thinning(33, 2));
  const box = thin(
    of(1, { type: 'finished', at: 3, node: 'box' }),
    everyOf(50, 8),
    thinning(50, 8),
  );
  store.records.append('r', here.slice(0, -1), { node: 'here' });
  expect(store.summary('r').iterations).toBe(0);
  for (const entry of box.slice(0, 6))
    store.records.append('r', [entry], { node: 'box' });
  expect(store.summary('r')).toMatchObject({ iterations: 33, loss: 320.5 });
  store.records.append('r', box, { node: 'box' });
  store.records.append('r', here, { node: 'here' });
  expect(store.summary('r')).toMatchObject({
    state: 'completed',
    iterations: 64,
    loss: 630.5,
  });
  expect(thinned()).toMatchObject([
    { node: 'here', records: 16, iterations: { from: 1, to: 33, every: 2 } },
    { node: 'box', iterations: { from: 1, to: 50, every: 8 } },
  ]);
  const both = [...store.reads.allIterations('r')].map(({ iteration }) => iteration);
  const twice = both.filter((iteration, i) => both.indexOf(iteration) !== i);
  expect(twice.filter((iteration) => iteration < 33)).toEqual([0, 8, 16, 24, 32]);
});

test('a run of the version before goes on where it was', () => {
  store.close();
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  const raw = new Database(file);
  for (const migration of [
    ...[runsMigration, journalsMigration, nodesMigration],
    ...[linksMigration, logLinesMigration],
  ]) {
    raw.exec(migration);
  }
  const spec = JSON.stringify(sampleSpec());
  raw.exec(`
    INSERT INTO runs (id, name, spec, switches, state, created_at, last_sequence,
      iterations, iterations_planned, ranks, model, dataset, methods)
    VALUES ('r', 'r', '${spec}', '[]', 'running', 1, 4, 1, 10, 2, 'm', 'd', '["none"]');
    INSERT INTO journals VALUES (1, 'this-computer', 4, NULL);`);
  const insert = raw.prepare('INSERT INTO iterations VALUES (1, ?, ?, ?, ?)');
  const run = wholeRun(6);
  for (const { sequence, record } of run.slice(1, 4)) {
    if (record.type !== 'iteration') throw new Error(record.type);
    insert.run(record.iteration, record.rank, sequence, JSON.stringify(record));
  }
  raw.pragma('user_version = 5');
  raw.close();
  store = RunStore.open(file);
  const { summary } = store.records.append('r', run.slice(4, 5));
  expect(summary).toMatchObject({ iterations: 2, loss: 10.5 });
  expect(store.records.append('r', run).summary).toMatchObject({ iterations: 6 });
});
