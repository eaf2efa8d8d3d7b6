/**
 * Records in blocks: whatever is asked of a run, it is what a plain list of its records says,
 * and each is there once. Ranks run apart, and one machine's records come late.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { IterationPlace } from '../../../src/shared/rpc/run-pieces.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from './sample-records.ts';

const ITERATIONS = 2600;
const RANKS = 3;
const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-blocks-'));
const file = path.join(directory, 'gradwire.db');
const store = RunStore.open(file);

/** Rank 1 is up to 300 iterations behind; every 7th line is no iteration. */
const inOrder = ((): JournalEntry[] => {
  const records: unknown[] = [started];
  for (let step = 0; step < ITERATIONS + 300; step++) {
    for (let rank = 0; rank < RANKS; rank++) {
      const iteration = rank === 1 ? step - Math.min(step, 300) : step;
      const isNew = rank === 1 ? step >= 300 : step < ITERATIONS;
      if (isNew) records.push({ ...iterationRecord(iteration, rank), at: step + 0.5 });
    }
    if (step % 7 === 0) {
      const line = {
        type: 'log',
        at: step,
        rank: 0,
        stream: 'stdout',
        text: `${step}`,
      };
      records.push(line);
    }
  }
  return [...entries(records as never)];
})();
const iterations = inOrder
  .map(({ record }) => record)
  .filter((record) => record.type === 'iteration')
  .toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank);

const create = (id: string): void => {
  // The losses here rise.
  store.settings.set('alerts.loss-rising.on', false);
  const spec = sampleSpec({ world: { ranks: RANKS }, iterations: ITERATIONS });
  store.create({ id, spec, switches: [], createdAt: 1 });
};
const fill = (id: string): void => {
  create(id);
  for (let at = 0; at < inOrder.length; at += 1500) {
    store.records.append(id, inOrder.slice(at, at + 1500));
  }
};
const whole = (id: string): JournalEntry[] => {
  const all: JournalEntry[] = [];
  for (;;) {
    const page = store.reads.entriesAfter(id, all.length);
    if (page.length === 0) return all;
    all.push(...page);
  }
};
const read = (
  id: string,
  range: { from: number; to: number },
  most: number,
): IterationRecord[] => {
  const all: IterationRecord[] = [];
  for (let place: IterationPlace | undefined = range; place !== undefined;) {
    const { entries: piece, next } = store.reads.iterations(
      id,
      { ...range, ...place },
      most,
    );
    all.push(...piece.map(({ record }) => record));
    expect(piece.length).toBeLessThanOrEqual(most);
    if (next !== undefined) expect(next.from).toBeGreaterThanOrEqual(place.from);
    place = next;
  }
  return all;
};
const raw = new Database(file, { readonly: true });
const number = (sql: string): number => raw.prepare(sql).pluck().get() as number;

beforeAll(() => {
  fill('r');
});
afterAll(() => {
  raw.close();
  store.close();
  rmSync(directory, { recursive: true });
});

describe('a long run', () => {
  it('lies in blocks but for its newest records', () => {
    const rows = number('SELECT count(*) FROM iterations');
    expect(rows).toBeLessThan(2048);
    const inBlocks = number(
      'SELECT sum(records) FROM iteration_blocks WHERE level = 0',
    );
    expect(inBlocks + rows).toBe(ITERATIONS * RANKS);
  });

  it('is read in the order of arrival, from anywhere', () => {
    expect(whole('r')).toEqual(inOrder);
    for (const after of [1, 1023, 1024, 1500, 4097, inOrder.length - 1]) {
      const page = store.reads.entriesAfter('r', after);
      expect(page).toEqual(inOrder.slice(after, after + page.length));
      expect(page.length).toBe(Math.min(1000, inOrder.length - after));
    }
  });

  it.each([
    { from: 0, to: Infinity },
    { from: 1000, to: 1040 },
    { from: 2300, to: 9000 },
    { from: 2599, to: 2600 },
    { from: 2600, to: 2700 },
    { from: 7, to: 7 },
  ])('is read from $from to $to in pieces of any size', (range) => {
    const expected = iterations.filter(
      ({ iteration }) => iteration >= range.from && iteration < range.to,
    );
    for (const most of [7, 100, 5000]) expect(read('r', range, most)).toEqual(expected);
  });
});

test('an iteration that lies in a block is not stored a second time', () => {
  const next = inOrder.length + 1;
  for (const [index, again] of [0, 700, 2599].entries()) {
    const record = iterationRecord(again, 1);
    const { refusal } = store.records.append('r', [{ sequence: next + index, record }]);
    expect(refusal).toMatchObject({ code: 'RECORD_INVALID' });
    expect(refusal!.message).toContain('has already been stored');
  }
  expect(read('r', { from: 0, to: 2600 }, 5000)).toEqual(iterations);
});

test('a run that ends is wholly in blocks, and its mean loss is that of its last iteration', () => {
  expect(store.summary('r')).toMatchObject({ iterations: ITERATIONS, loss: 25_991 });
  store.records.append('r', [{ sequence: inOrder.length + 4, record: done }]);
  expect(
    number(`SELECT count(*) FROM iterations
      WHERE run = (SELECT number FROM runs WHERE id = 'r')`),
  ).toBe(0);
  expect(whole('r')).toHaveLength(inOrder.length + 4);
  expect(read('r', { from: 0, to: 2600 }, 1000)).toEqual(iterations);
});

test('an iteration far away is found without walking there', () => {
  create('far');
  const far = 2 ** 40;
  const records = [started, iterationRecord(5, 0), iterationRecord(far, 0), done];
  store.records.append('far', entries(records));
  const { entries: found, next } = store.reads.iterations(
    'far',
    { from: 0, to: Number.MAX_SAFE_INTEGER },
    100,
  );
  expect(found.map(({ record }) => record.iteration)).toEqual([5, far]);
  expect(next).toBeUndefined();
});
