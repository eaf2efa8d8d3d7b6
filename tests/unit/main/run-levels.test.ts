/**
 * Charts show of a run what its records say, at every width, of all ranks and of one:
 * while it goes on, after its end, after records that came late, and in a database that had no
 * levels. The oracle goes over the records themselves.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { COUNTS, MAXIMA, MINIMA } from '../../../src/shared/records/chart-cells.ts';
import {
  BANDED_FIELDS,
  COLUMN,
  type BandedField,
  type Field,
} from '../../../src/shared/records/chart-fields.ts';
import { CELL_COUNT } from '../../../src/shared/records/chart-cells.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { MOST_BINS, type BinsQuery } from '../../../src/shared/rpc/run-pieces.ts';
import { effort } from '../../harness/effort.ts';
import { generator } from '../../integration/collectives/run-collective.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from './sample-records.ts';

const RANKS = 70;
const ITERATIONS = 960;
/** Ranks from here on are those of a machine whose records come late. */
const LATE = 66;
const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-levels-'));
const file = path.join(directory, 'gradwire.db');
const random = generator(7);

const microseconds = (most: number): number => Math.round(random() * most * 1e6) / 1e6;
function noisy(iteration: number, rank: number): IterationRecord {
  const record = iterationRecord(iteration, rank);
  delete record.loss;
  return {
    ...record,
    at: 1_700_000_000_000 + iteration + random(),
    wall: microseconds(50) * (random() < 0.002 ? 100 : 1),
    phases: { ...record.phases, wait: microseconds(20) },
    ...(iteration % 10 === 0 ? {} : { loss: random() * 3 }),
    ...(iteration % 3 === 0 ? { density: random() } : {}),
  };
}

const all: IterationRecord[] = [];
const onTime: IterationRecord[] = [];
const late: IterationRecord[] = [];
for (let step = 0; step < ITERATIONS + 20; step++) {
  for (let rank = 0; rank < RANKS; rank++) {
    // Ranks run apart.
    const iteration = step - (rank % 7) * 3;
    if (iteration < 0 || iteration >= ITERATIONS) continue;
    const record = noisy(iteration, rank);
    all.push(record);
    (rank < LATE ? onTime : late).push(record);
  }
}
const spec = sampleSpec({ world: { ranks: RANKS }, iterations: ITERATIONS });
let store = RunStore.open(file);
store.create({ id: 'r', spec, switches: [], createdAt: 1 });
let sequence = 0;
function append(records: readonly IterationRecord[]): void {
  for (let at = 0; at < records.length; at += 1500) {
    const part = entries(records.slice(at, at + 1500), sequence);
    store.records.append('r', part);
    sequence += part.length;
  }
}
store.records.append('r', entries([started]));
sequence = 1;

afterAll(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

interface Expected {
  readonly start: number;
  readonly values: Readonly<Record<string, readonly number[]>>;
}

const READ: Readonly<Record<string, (record: IterationRecord) => number | undefined>> =
  {
    wall: ({ wall }) => wall,
    wait: ({ phases }) => phases.wait,
    forward: ({ phases }) => phases.forward,
    loss: ({ loss }) => loss,
    metric: ({ metric }) => metric,
    density: ({ density }) => density,
    wireSent: ({ bytes }) => bytes.wireSent,
    overlapped: ({ overlapped }) => overlapped,
  };

function expectedBins(
  records: readonly IterationRecord[],
  { from, rank, to, width }: BinsQuery,
): readonly Expected[] {
  const wanted = records.filter(
    (record) =>
      (rank === undefined || record.rank === rank) &&
      Math.floor(record.iteration / width) >= Math.floor(from / width) &&
      Math.floor(record.iteration / width) <= Math.floor((to - 1) / width),
  );
  const bins = Map.groupBy(wanted, ({ iteration }) => Math.floor(iteration / width));
  return [...bins]
    .toSorted(([a], [b]) => a - b)
    .map(([bin, its]) => ({
      start: bin * width,
      values: Object.fromEntries(
        Object.entries(READ).map(([name, value]) => [
          name,
          its.flatMap((record) => value(record) ?? []),
        ]),
      ),
    }));
}

function read(query: BinsQuery): { start: number; cells: (number | null)[] }[] {
  const bins: { start: number; cells: (number | null)[] }[] = [];
  for (let from: number | undefined = query.from; from !== undefined;) {
    const piece: ReturnType<RunStore['reads']['bins']> = store.reads.bins('r', {
      ...query,
      from,
    });
    expect(piece.starts.length).toBeLessThanOrEqual(MOST_BINS);
    for (const [index, start] of piece.starts.entries()) {
      const at = index * CELL_COUNT;
      bins.push({ start, cells: piece.cells.slice(at, at + CELL_COUNT) });
    }
    from = piece.next;
  }
  return bins;
}

const QUERIES: readonly Omit<BinsQuery, 'rank'>[] = [
  { from: 0, to: ITERATIONS, width: 1024 },
  { from: 0, to: Number.MAX_SAFE_INTEGER, width: 64 },
  { from: 37, to: 811, width: 16 },
  { from: 300, to: 340, width: 1 },
  { from: 900, to: 5000, width: 4 },
];

/** From levels, beside levels, and from the records. */
const TRIED = effort({ quick: QUERIES.slice(1, 4), soak: QUERIES });

/** Views of all ranks, and of those at either end of those that are on time, or late. */
const WHOSE = effort({ quick: [undefined, 69], soak: [undefined, 0, 65, 69] });

function requireEqual(records: readonly IterationRecord[], queries = TRIED): void {
  for (const part of queries) {
    for (const rank of WHOSE) {
      const query = { ...part, rank };
      const found = read(query);
      const expected = expectedBins(records, query);
      expect(found.map(({ start }) => start)).toEqual(
        expected.map(({ start }) => start),
      );
      for (const [index, { values }] of expected.entries()) {
        requireCells(found[index]!.cells, values);
      }
    }
  }
}

function requireCells(
  cells: readonly (number | null)[],
  expected: Readonly<Record<string, readonly number[]>>,
): void {
  for (const [name, values] of Object.entries(expected)) {
    const column = COLUMN[name as Field];
    expect(cells[COUNTS + column]).toBe(values.length);
    const sum = values.reduce((total, value) => total + value, 0);
    expect(Math.abs(cells[column]! - sum)).toBeLessThanOrEqual(1e-12 * Math.abs(sum));
    const band = BANDED_FIELDS.indexOf(name as BandedField);
    if (band < 0) continue;
    const extremes = values.length === 0 ? [null, null] : [Math.min, Math.max];
    expect([cells[MINIMA + band], cells[MAXIMA + band]]).toEqual(
      extremes.map((of) => of && of(...values)),
    );
  }
}

describe('bins are what the records say', () => {
  it('while a run goes on', () => {
    append(onTime.slice(0, 30_001));
    requireEqual(onTime.slice(0, 30_001));
    append(onTime.slice(30_001));
    requireEqual(onTime);
  });

  it('to a process that has not made them', () => {
    store.close();
    store = RunStore.open(file);
    requireEqual(onTime);
  });

  it('with records that come late, and after the end', () => {
    append(late.slice(0, 2000));
    requireEqual([...onTime, ...late.slice(0, 2000)]);
    append(late.slice(2000));
    store.records.append('r', entries([done], sequence));
    requireEqual(all);
    expect(levels()).toBeGreaterThan(1);
  });

  it('in a database that had no levels, whenever making them was cut', () => {
    store.close();
    const older = new Database(file);
    older.exec('DELETE FROM level_chunks');
    older.close();
    store = RunStore.open(file);
    store.space.compact();
    store.close();
    store = RunStore.open(file);
    expect(levels()).toBe(1);
    requireEqual(all);
    expect(levels()).toBeGreaterThan(1);
    while (store.space.compact()) continue;
    requireEqual(all);
  });

  it('without looking at records, where levels have the width', () => {
    store.close();
    const raw = new Database(file);
    raw.exec("UPDATE iteration_blocks SET content = x''");
    raw.close();
    store = RunStore.open(file);
    requireEqual(
      all,
      QUERIES.filter(({ width }) => width >= 16),
    );
    // What is narrower than a rank's levels needs them, and these are damaged.
    expect(() => read({ from: 300, to: 340, width: 1, rank: 0 })).toThrow();
  });
});

test('a purge takes the levels, too', () => {
  store.setDeleted('r', true);
  const raw = new Database(file);
  raw.exec('UPDATE runs SET stored_at = 0');
  store.purge('r');
  for (const step of store.space.clear()) expect(step).toBeUndefined();
  expect(levels()).toBe(0);
  raw.close();
});

function levels(): number {
  const raw = new Database(file, { readonly: true });
  const count = raw
    .prepare('SELECT count(DISTINCT level) FROM level_chunks')
    .pluck()
    .get();
  raw.close();
  return count as number;
}
