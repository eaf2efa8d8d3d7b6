/**
 * No answer is larger than a message may be, whatever a run has: records of ranks that wait for
 * all others, long lines, thousands of large events. Nothing is lost between two answers.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { IterationPiece } from '../../../src/main/store/iteration-reader.ts';
import { exportPiece } from '../../../src/main/store/run-export.ts';
import {
  PIECE_FORMAT_IDS,
  type PieceFormat,
} from '../../../src/shared/records/export-format.ts';
import { MOST_MESSAGE_BYTES } from '../../../src/main/store/json-bound.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import {
  MOST_ITERATION_RECORDS,
  type ExportPiece,
  type ExportPlace,
  type IterationPlace,
} from '../../../src/shared/rpc/run-pieces.ts';
import { effort } from '../../harness/effort.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from './sample-records.ts';

const RANKS = 384;
const ITERATIONS = 3;
const LINES = 1500;
const NOTICES = 3000;
const temporary = new TemporaryStore();
const { store } = temporary;
afterAll(() => {
  temporary.close();
});

const waitedFor = Object.fromEntries(
  Array.from({ length: RANKS }, (_, rank) => [rank, (rank + 1) * 1.000_001]),
);
const iterations = Array.from({ length: ITERATIONS * RANKS }, (_, n) => ({
  ...iterationRecord(Math.floor(n / RANKS), n % RANKS),
  waitedFor,
}));
const lines = Array.from({ length: LINES }, (_, n): RunRecord => ({
  type: 'log',
  at: n,
  rank: 0,
  stream: 'stdout',
  text: `${n}`.padEnd(4000, '·'),
}));
const notices = Array.from({ length: NOTICES }, (_, n): RunRecord => ({
  type: 'notice',
  at: n,
  level: 'info',
  code: 'COLLECTIVE_CHOSEN',
  message: `${n}`.padEnd(3000, '.'),
}));
const evaluation: RunRecord = {
  type: 'evaluation',
  iteration: 1,
  at: 1,
  loss: 1,
  metric: 0.5,
  samples: 10,
  wall: 1,
};

beforeAll(() => {
  const spec = sampleSpec({ world: { ranks: RANKS }, iterations: ITERATIONS });
  store.create({ id: 'r', spec, switches: [], createdAt: 1 });
  const all = [started, ...iterations, evaluation, ...lines, ...notices, done];
  store.records.append('r', entries(all));
});

function answered<T>(answer: T): T {
  expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(MOST_MESSAGE_BYTES);
  return answer;
}

test('iterations are read in answers that may end between two ranks', () => {
  const read: unknown[] = [];
  let place: IterationPlace | undefined = { from: 0 };
  while (place !== undefined) {
    const range = { ...place, to: 100 };
    const piece: IterationPiece = answered(
      store.reads.iterations('r', range, MOST_ITERATION_RECORDS),
    );
    read.push(...piece.entries.map(({ record }) => record));
    place = piece.next;
  }
  expect(read).toEqual(iterations);
});

test('pages of events, lines and all records hold what fits', () => {
  const follow = (
    page: (after: number) => readonly JournalEntry[],
  ): readonly unknown[] => {
    const all: JournalEntry[] = [];
    for (;;) {
      const next = answered(page(all.at(-1)?.sequence ?? 0));
      if (next.length === 0) return all.map(({ record }) => record);
      all.push(...next);
    }
  };
  const events = [started, evaluation, ...notices, done];
  expect(follow((after) => store.reads.eventsAfter('r', after))).toEqual(events);
  expect(follow((after) => store.reads.logLinesAfter('r', after))).toEqual(lines);
  expect(follow((after) => store.reads.logAfter('r', after))).toHaveLength(
    events.length + LINES,
  );
});

test('a run is shown with as many of its newest events as fit', () => {
  const { events, omittedEvents } = answered(store.reads.shown('r'));
  expect(events[0]).toEqual(started);
  expect(events.at(-1)).toEqual(done);
  expect(events.length + omittedEvents!).toBe(NOTICES + 3);
  expect(events.slice(-2)[0]).toEqual(notices.at(-1));
});

// Those of lines are made alike.
const formats = PIECE_FORMAT_IDS.filter((format) => format !== 'jsonl');

test.each(effort<readonly PieceFormat[]>({ quick: formats, soak: PIECE_FORMAT_IDS }))(
  '%s is exported in pieces',
  (format) => {
    const text: string[] = [];
    let done = 0;
    let place: ExportPlace | undefined;
    do {
      const piece: ExportPiece = answered(exportPiece(store, 'r', format, place));
      text.push(piece.text);
      expect(piece.done).toBeGreaterThanOrEqual(done);
      ({ done, next: place } = piece);
    } while (place !== undefined);
    expect(done).toBe(1);
    requireWhole(format, text.join(''));
  },
);

function requireWhole(format: PieceFormat, text: string): void {
  if (format === 'json') {
    const read = JSON.parse(text) as Record<string, readonly unknown[]>;
    expect(read['iterations']).toEqual(iterations);
    expect(read['log']).toEqual(lines);
    return;
  }
  if (format === 'jsonl') {
    const [head, ...records] = text.trimEnd().split('\n');
    expect(JSON.parse(head!)).toMatchObject({ type: 'run', run: { id: 'r' } });
    const all = [started, evaluation, ...notices, done, ...lines, ...iterations];
    expect(records.map((line) => JSON.parse(line) as unknown)).toEqual(all);
    return;
  }
  const [header, ...rows] = text.trimEnd().split('\n');
  expect(rows).toHaveLength(iterations.length);
  const column = header!.split(',').indexOf('evaluation_metric');
  const evaluated = rows.flatMap((row, index) =>
    row.split(',')[column] === '' ? [] : [index],
  );
  expect(evaluated).toEqual([RANKS]);
}
