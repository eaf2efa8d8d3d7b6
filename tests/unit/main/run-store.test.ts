/** Runs in the store: what is appended, summed up and read again. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
  switchRecord,
  wholeRun,
} from './sample-records.ts';

let temporary: TemporaryStore;
let store: RunStore;

beforeEach(() => {
  temporary = new TemporaryStore();
  ({ store } = temporary);
});
afterEach(() => {
  temporary.close();
});

function create(id = 'run1', overrides = {}): void {
  store.create({ id, spec: sampleSpec(overrides), switches: [], createdAt: 1000 });
}

function stored(id = 'run1'): RunRecord[] {
  const records: RunRecord[] = [];
  let after = 0;
  for (;;) {
    const page = store.reads.entriesAfter(id, after);
    if (page.length === 0) return records;
    expect(page[0]!.sequence).toBe(after + 1);
    records.push(...page.map(({ record }) => record));
    after = page.at(-1)!.sequence;
  }
}

test('a run is queued as long as its newest records say so, and again when it is restarted', () => {
  create();
  let sequence = 0;
  const append = (record: RunRecord): string | undefined => {
    store.records.append('run1', [{ sequence: ++sequence, record }]);
    return store.summary('run1').queue?.job;
  };
  const queued = (job: string): RunRecord => ({
    type: 'queued',
    at: sequence,
    node: 'hpc',
    job,
    reason: 'Priority',
  });
  const allocated: RunRecord = {
    type: 'allocated',
    at: 0,
    node: 'hpc',
    job: '1',
    computeNodes: ['n0'],
  };
  const error = { code: 'JOB_LOST', kind: 'failure', message: 'gone' } as const;
  expect(append(queued('1'))).toBe('1');
  expect(append(allocated)).toBeUndefined();
  expect(append(started)).toBeUndefined();
  expect(append({ type: 'interrupted', at: 3, node: 'hpc', error })).toBeUndefined();
  for (let i = 0; i < 20; i++) expect(append(queued('2'))).toBe('2');
  expect(store.summary('run1').state).toBe('running');
  expect(append({ type: 'failed', at: 9, error })).toBeUndefined();
});

describe('appending', () => {
  test('stores every record as it is, in the order of the journal', () => {
    create();
    const run = wholeRun(10);
    store.records.append('run1', run);
    expect(stored()).toEqual(run.map(({ record }) => record));
  });

  test('what is delivered again is stored once, in batches of any size', () => {
    create();
    const run = wholeRun(10);
    for (const size of [1, 3, 7, 100]) {
      for (let from = 0; from < run.length; from += size) {
        store.records.append('run1', run.slice(Math.max(0, from - 2), from + size));
      }
    }
    expect(stored()).toEqual(run.map(({ record }) => record));
    expect(store.lastSequence('run1')).toBe(run.length);
  });

  test('a gap is refused and stores nothing', () => {
    create();
    const run = wholeRun(4);
    store.records.append('run1', run.slice(0, 3));
    expect(() => store.records.append('run1', run.slice(4))).toThrowError(
      expect.objectContaining({
        code: 'RECORDS_MISSING',
        message: 'record 5 follows record 3: those in between are missing',
      }) as Error,
    );
    expect(stored()).toHaveLength(3);
  });

  test('answers with entries as they are stored, those stored before included', () => {
    create();
    const run = wholeRun(10);
    store.records.append('run1', run.slice(0, 20));
    // As for one that was told the first twelve.
    const seen = 12;
    const again = store.records.append('run1', run.slice(5, 12), { seen });
    expect(again.entries).toEqual(run.slice(12, 20));
    expect(store.records.append('run1', run.slice(15), { seen }).entries).toEqual(
      run.slice(12),
    );
    expect(store.records.append('run1', [], { seen: run.length }).entries).toEqual([]);
  });
});

describe('a record that cannot be stored', () => {
  const good = iterationRecord(1, 0);
  /** Each the third record of a run, with what the reason says of it. */
  const bad: readonly (readonly [string, unknown, string])[] = [
    ['a loss that is NaN', { ...good, loss: NaN }, 'loss is NaN'],
    ['a wall below 0', { ...good, wall: -1 }, 'wall is not valid'],
    ['a field of a later version', { ...good, speed: 9 }, 'Unrecognized key: "speed"'],
    ['a type of a later version', { ...good, type: 'speed' }, 'type is not valid'],
    [
      'a rank that the run does not have',
      { ...good, rank: 7 },
      'rank is 7, but the run has 2 ranks',
    ],
    [
      'an iteration for the second time',
      iterationRecord(0, 0),
      'has already been stored',
    ],
    ['nothing', null, 'a record without a type'],
    ['a number that no double holds', { ...good, at: 2n ** 70n }, 'at is not valid'],
  ];

  test.each(bad)(
    '%s: the run fails by it, and nothing waits behind it',
    (_, raw, reason) => {
      create();
      const records = [
        started,
        iterationRecord(0, 0),
        raw,
        iterationRecord(0, 1),
        done,
      ];
      const given = entries(records as never);
      const { summary, entries: told, refusal } = store.records.append('run1', given);
      expect(summary).toMatchObject({
        state: 'failed',
        iterations: 1,
        endedAt: done.at,
        error: refusal,
      });
      expect(refusal).toMatchObject({
        code: 'RECORD_INVALID',
        message: expect.stringMatching(/^record 3 cannot be stored: /) as string,
      });
      expect(refusal!.message).toContain(reason);
      expect(stored()).toEqual(told.map(({ record }) => record));
      expect(stored()).toMatchObject([
        started,
        iterationRecord(0, 0),
        { type: 'notice', level: 'warning', code: 'RECORD_INVALID' },
        iterationRecord(0, 1),
        { type: 'failed', at: done.at, error: refusal },
      ]);
      expect(store.lastSequence('run1')).toBe(5);
      expect(store.runs.unended()).toEqual([]);
    },
  );

  test('fails a run that goes on only when it ends', () => {
    create();
    const records = entries([started, { ...good, loss: Infinity }, good]);
    const first = store.records.append('run1', records);
    expect(first.summary.state).toBe('running');
    expect(first.summary).not.toHaveProperty('error');
    expect(first.refusal).toMatchObject({ code: 'RECORD_INVALID' });
    const second = store.records.append('run1', entries([done], 3));
    expect(second.refusal).toBeUndefined();
    expect(second.summary).toMatchObject({ state: 'failed', error: first.refusal });
    expect(second.entries.map(({ record }) => record.type)).toEqual(['failed']);
  });

  test('that would have been the last one ends the run', () => {
    create();
    const { summary } = store.records.append(
      'run1',
      entries([started, { ...done, loss: NaN } as never]),
    );
    expect(summary).toMatchObject({
      state: 'failed',
      error: { message: expect.stringContaining('done record: loss is NaN') as string },
    });
  });

  test('leaves the reason of a run that failed by itself', () => {
    create();
    const error = { code: 'WORKER_DIED', kind: 'failure', message: 'x' } as const;
    const { summary } = store.records.append(
      'run1',
      entries([started, { ...good, loss: NaN }, { type: 'failed', at: 5, error }]),
    );
    expect(summary).toMatchObject({ state: 'failed', error });
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
    expect(store.records.append('run1', entries(records)).summary).toMatchObject({
      state: 'running',
      iterations: 1,
      loss: 0.5,
    });
    const next = entries([iterationRecord(1, 1)], 4);
    expect(store.records.append('run1', next).summary).toMatchObject({
      iterations: 2,
      loss: 10.5,
    });
  });

  test.each([[1], [7], [30]])(
    'has the newest loss that a program told, however records come (%i at once)',
    (most) => {
      create();
      const silent = (iteration: number, rank: number) => {
        const { loss, ...record } = iterationRecord(iteration, rank);
        return iteration % 4 === 1 ? { ...record, loss } : record;
      };
      const records: RunRecord[] = [started];
      for (let iteration = 0; iteration < 12; iteration++) {
        records.push(silent(iteration, 0), silent(iteration, 1));
      }
      for (let from = 0; from < records.length; from += most) {
        store.records.append('run1', entries(records.slice(from, from + most), from));
      }
      expect(store.summary('run1')).toMatchObject({ iterations: 12, loss: 90.5 });
    },
  );

  test('follows evaluations, switches and the end', () => {
    create();
    const run = entries([
      started,
      switchRecord(3, 'none', 'topk'),
      switchRecord(5, 'topk', 'topk'),
      switchRecord(6, 'topk', 'none'),
      done,
    ]);
    const { summary } = store.records.append('run1', run);
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
    store.records.append('a', entries([started, { type: 'failed', at: 5, error }]));
    expect(store.fail('a', { ...error, code: 'RUN_LOST' }, 9)).toMatchObject({
      state: 'failed',
      error,
      endedAt: 5,
    });
    expect(store.fail('b', error, 9)).toMatchObject({ state: 'failed', error });
    expect(store.runs.unended()).toEqual([]);
  });
});

describe('reading', () => {
  test('iterations by range', () => {
    create();
    store.records.append('run1', wholeRun(10));
    const range = { from: 4, to: 7 };
    const { entries: read, next } = store.reads.iterations('run1', range, 1000);
    expect(next).toBeUndefined();
    expect(read.map(({ record }) => record)).toEqual(
      [4, 5, 6].flatMap((n) => [iterationRecord(n, 0), iterationRecord(n, 1)]),
    );
  });

  test('detail holds all events and no iteration', () => {
    create();
    const run = wholeRun(10);
    store.records.append('run1', run);
    const detail = store.reads.detail('run1');
    expect(detail.events).toEqual(
      run.map(({ record }) => record).filter(({ type }) => type !== 'iteration'),
    );
    expect(detail.lastSequence).toBe(run.length);
    expect(detail.spec).toEqual(sampleSpec());
  });

  test('a run with very many events is shown with the newest ones and those that shape it', () => {
    create();
    const measured = Array.from({ length: 5000 }, (_, iteration): RunRecord => ({
      type: 'comparison',
      at: iteration,
      iteration,
      error: 0.5,
    }));
    const all = [started, switchRecord(3, 'none', 'topk'), ...measured];
    store.records.append('run1', entries(all));
    const { events, lastSequence, omittedEvents } = store.reads.shown('run1');
    expect(events.slice(0, 2)).toEqual(all.slice(0, 2));
    expect(events.slice(2)).toEqual(measured.slice(-events.length + 2));
    expect(events.length).toBeLessThan(2100);
    expect(events.length + omittedEvents!).toBe(all.length);
    expect(lastSequence).toBe(all.length);
    expect(store.reads.detail('run1').events).toEqual(all);
    create('run2');
    store.records.append('run2', entries([started, done]));
    expect(store.reads.shown('run2')).toEqual(store.reads.detail('run2'));
  });

  test('lists newest first, searches literally, and keeps the deleted apart', () => {
    create('a', { name: '100 % dense' });
    create('b', { name: '100 of them' });
    store.records.append('a', entries([started, done]));
    expect(store.runs.list().map(({ id }) => id)).toEqual(['b', 'a']);
    expect(store.runs.list({ search: '100 %' }).map(({ id }) => id)).toEqual(['a']);
    expect(store.runs.list({ limit: 1, offset: 1 }).map(({ id }) => id)).toEqual(['a']);
    store.setDeleted('a', true);
    expect(store.runs.list().map(({ id }) => id)).toEqual(['b']);
    expect(store.runs.list({ deleted: true }).map(({ id }) => id)).toEqual(['a']);
    store.setDeleted('a', false);
    expect(store.runs.list()).toHaveLength(2);
    expect(() => store.setDeleted('b', true)).toThrow(
      expect.objectContaining({ code: 'RUN_NOT_ENDED' }),
    );
  });

  test('names a run by a beginning of its id that is unique', () => {
    create('abc1');
    create('abd2');
    expect(store.runs.resolve('abd')).toBe('abd2');
    expect(store.runs.resolve('abc1')).toBe('abc1');
    const code = (value: string) => expect.objectContaining({ code: value });
    expect(() => store.runs.resolve('ab')).toThrow(code('RUN_AMBIGUOUS'));
    expect(() => store.runs.resolve('x')).toThrow(code('RUN_UNKNOWN'));
    expect(() => store.runs.resolve('')).toThrow(code('RUN_UNKNOWN'));
    expect(() => store.summary('ab')).toThrow(code('RUN_UNKNOWN'));
  });
});
