/** The list of runs: filtered, sorted, grouped and annotated in a real database. */
import Database from 'better-sqlite3';
import path from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunPageQuery } from '../../../src/shared/run-query/run-page.ts';
import { MOST_TAGS } from '../../../src/main/store/run-tag.ts';
import {
  done,
  entries,
  iterationRecord,
  sampleSpec,
  started,
} from './sample-records.ts';

const HOUR = 3_600_000;
const NOW = new Date(2026, 10, 27, 12).getTime();

let directory: string;
let file: string;
let store: RunStore;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-pages-'));
  file = path.join(directory, 'gradwire.db');
  store = RunStore.open(file);
  make('dense', { hours: 50, loss: 0.5, metric: 0.97 });
  make('sparse', { hours: 30, loss: 0.1, metric: 0.9, ratio: 0.01, ranks: 4 });
  make('coarse', { hours: 2, loss: 0.1, ratio: 0.1, name: '100 % Ä' });
  make('going', { hours: 1, isGoing: true, overlap: true });
});
afterEach(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

interface Made {
  readonly hours: number;
  readonly loss?: number;
  readonly metric?: number;
  readonly ratio?: number;
  readonly ranks?: number;
  readonly name?: string;
  readonly overlap?: boolean;
  readonly isGoing?: boolean;
}

/** A run that was launched some hours ago and took one, or goes on. */
function make(id: string, made: Made): void {
  const { hours, isGoing, loss, metric, name = id, overlap, ranks = 2, ratio } = made;
  const exchange = ratio === undefined ? {} : { method: 'topk', ratio };
  const spec = sampleSpec({ name, exchange, overlap, world: { ranks } });
  const createdAt = NOW - hours * HOUR;
  store.create({ id, spec, switches: [], createdAt });
  const begin = { ...started, at: createdAt, ranks } as RunRecord;
  const iterations = Array.from({ length: ranks }, (_, rank): RunRecord => {
    return { ...iterationRecord(0, rank), loss };
  });
  const end = { ...done, at: createdAt + HOUR, metric } as RunRecord;
  store.records.append(
    id,
    entries(isGoing === true ? [begin] : [begin, ...iterations, end]),
  );
}

const page = (query: RunPageQuery) => store.runs.pages.page(query, NOW);
const ids = (query: RunPageQuery): readonly string[] =>
  page(query).rows.map(({ run }) => run.id);
const found = (filter: string): readonly string[] => ids({ filter });

describe('a filter finds runs', () => {
  it('of programs by no setting that a program has itself', () => {
    const workload = { command: ['python3', 'train.py'] };
    const spec = parseExperimentSpec({ name: 'own', workload });
    store.create({ id: 'own', spec, switches: [], createdAt: NOW });
    expect(found('lr:*')).toEqual(['going', 'coarse', 'sparse', 'dense']);
    expect(found('-batchPerRank:*')).toEqual(['own']);
    expect(found('exchange.bucketBytes:* model:program')).toEqual(['own']);
  });

  it('by their keys, those of their specs, and words', () => {
    const cases: readonly (readonly [filter: string, expected: readonly string[]])[] = [
      ['', ['going', 'coarse', 'sparse', 'dense']],
      ['method:topk', ['coarse', 'sparse']],
      ['-method:topk', ['going', 'dense']],
      ['method:top', []],
      ['method:top*', ['coarse', 'sparse']],
      ['loss<=0.1 metric:*', ['sparse']],
      ['-loss<0.2', ['going', 'dense']],
      ['metric>90%', ['dense']],
      ['ratio<0.05', ['sparse']],
      ['exchange.ratio:0.010,1e-1', ['coarse', 'sparse']],
      ['-ratio:*', ['going', 'dense']],
      ['overlap:true', ['going']],
      ['ranks>=4', ['sparse']],
      ['state:running,failed', ['going']],
      ['state:comp*', ['coarse', 'sparse', 'dense']],
      [
        'machine:this-computer model:FNN3 data:digits',
        ['going', 'coarse', 'sparse', 'dense'],
      ],
      ['started:yesterday', ['sparse']],
      ['started<2026-11-26', ['dense']],
      ['age<3h', ['going', 'coarse']],
      ['duration:1h', ['going', 'coarse', 'sparse', 'dense']],
      ['"100 %"', ['coarse']],
      ['100%', []],
      ['ä', ['coarse']],
      ['name:"% Ä"', ['coarse']],
      ['DENSE', ['dense']],
      ['-dense -sparse', ['going', 'coarse']],
      ['size>=0', ['going', 'coarse', 'sparse', 'dense']],
    ];
    for (const [filter, expected] of cases) {
      expect(found(filter), filter).toEqual(expected);
      expect(store.runs.pages.matching({ filter }, NOW), filter).toEqual(expected);
    }
  });

  it('by tags and notes, which are written on any run', () => {
    expect(store.annotations.tag(['dense', 'going'], ' Paper ', true)).toEqual([
      'dense',
      'going',
    ]);
    expect(store.annotations.tag(['dense', 'coarse'], 'Paper', true)).toEqual([
      'coarse',
    ]);
    store.annotations.writeNote('sparse', { text: 'it 100% diverged\nat last' });
    expect(found('tag:paper')).toEqual(['going', 'coarse', 'dense']);
    expect(found('tag:paper,x -state:running')).toEqual(['coarse', 'dense']);
    expect(found('-tag:*')).toEqual(['sparse']);
    expect(found('note:"100% DIV"')).toEqual(['sparse']);
    expect(found('diverged')).toEqual(['sparse']);
    expect(store.runs.pages.vocabulary().values['tag']).toEqual(['Paper']);
    expect(store.annotations.tag(['dense', 'sparse'], 'Paper', false)).toEqual([
      'dense',
    ]);
    expect(found('tag:paper')).toEqual(['going', 'coarse']);
  });
});

describe('a list', () => {
  it('is sorted by any key, what is absent last, and equal ones newest first', () => {
    expect(ids({ order: 'loss' })).toEqual(['coarse', 'sparse', 'dense', 'going']);
    expect(ids({ order: '-loss' })).toEqual(['dense', 'coarse', 'sparse', 'going']);
    expect(ids({ order: 'name' })).toEqual(['coarse', 'dense', 'going', 'sparse']);
    expect(ids({ order: '-exchange.ratio' })).toEqual([
      'coarse',
      'sparse',
      'going',
      'dense',
    ]);
    for (const order of [
      'tag',
      '-note',
      'machine',
      'duration',
      '-size',
      'state',
      'id',
    ]) {
      expect(ids({ order })).toHaveLength(4);
    }
    expect(() => ids({ order: 'losss' })).toThrow(
      expect.objectContaining({ code: 'RUN_FILTER_INVALID', place: 'order' }),
    );
  });

  it('comes in pages, with the number of all', () => {
    const rest = page({ limit: 2, offset: 2 });
    expect(rest.rows.map(({ run }) => run.id)).toEqual(['sparse', 'dense']);
    expect(rest.total).toBe(4);
    expect(rest.bytes).toBeGreaterThan(0);
    expect(page({ filter: 'nothing' })).toEqual({ rows: [], total: 0, bytes: 0 });
  });

  it('is grouped, with the size of each group, and has columns of specs', () => {
    const { rows } = page({
      group: 'method',
      order: 'loss',
      columns: ['ratio', 'seed'],
    });
    expect(rows.map(({ group, run, values }) => [run.id, group, values])).toEqual([
      ['dense', { value: 'none', runs: 2 }, [null, 1]],
      ['going', { value: 'none', runs: 2 }, [null, 1]],
      ['coarse', { value: 'topk', runs: 2 }, [0.1, 1]],
      ['sparse', { value: 'topk', runs: 2 }, [0.01, 1]],
    ]);
    const groups = page({ group: 'ratio' }).rows.map(({ group }) => group!.value);
    expect(groups).toEqual([0.01, 0.1, null, null]);
  });

  it('has each group in one piece, though names differ only in case', () => {
    for (const [index, name] of ['Same', 'same', 'Same', 'same'].entries()) {
      make(`same${index}`, { hours: 10 + index, name });
    }
    const { rows } = page({ filter: 'name:same', group: 'name' });
    expect(rows.map(({ group, run }) => [run.id, group])).toEqual([
      ['same0', { value: 'Same', runs: 2 }],
      ['same2', { value: 'Same', runs: 2 }],
      ['same1', { value: 'same', runs: 2 }],
      ['same3', { value: 'same', runs: 2 }],
    ]);
  });

  it('keeps deleted runs apart; many are deleted at once, but for those in progress', () => {
    const { deletions } = store;
    const outcome = deletions.setAll(['dense', 'going', 'nowhere', 'dense'], true);
    expect(outcome.changed).toEqual(['dense']);
    expect(outcome.refused.map(({ code }) => code)).toEqual([
      'RUN_NOT_ENDED',
      'RUN_UNKNOWN',
    ]);
    expect(ids({})).toEqual(['going', 'coarse', 'sparse']);
    expect(ids({ deleted: true })).toEqual(['dense']);
    expect(deletions.setAll(['dense'], false)).toEqual({
      changed: ['dense'],
      refused: [],
    });
    expect(ids({})).toHaveLength(4);
  });

  it('leaves out a damaged row, and finds the others', () => {
    const raw = new Database(file);
    raw.prepare(`UPDATE runs SET spec = '{', methods = '[' WHERE id = 'dense'`).run();
    raw.close();
    expect(found('-method:nosuch')).toEqual(['going', 'coarse', 'sparse']);
    expect(ids({ order: 'seed', group: 'ratio', columns: ['seed'] })).toHaveLength(3);
    expect(store.runs.takeDamage()).toHaveLength(1);
    expect(store.runs.pages.vocabulary().values['method']).toEqual(['none', 'topk']);
  });
});

describe('annotations', () => {
  it('are in the summary, and leave the spec as it was', () => {
    const { annotations } = store;
    expect(store.summary('dense')).not.toHaveProperty('annotated');
    annotations.rename('dense', '  The baseline ');
    annotations.tag(['dense'], 'b', true);
    annotations.tag(['dense'], 'a', true);
    const pinned = annotations.writeNote('dense', { text: 'jump', iteration: 1 });
    expect(store.summary('dense').note).toBe('jump');
    annotations.writeNote('dense', { text: 'first\r\nsecond' });
    expect(store.summary('dense')).toMatchObject({
      name: 'The baseline',
      title: 'The baseline',
      tags: ['a', 'b'],
      note: 'first\nsecond',
    });
    expect(store.spec('dense').name).toBe('dense');
    expect(found('baseline')).toEqual(['dense']);
    expect(annotations.notes('dense')).toMatchObject([
      { text: 'first\nsecond' },
      { id: pinned.id, iteration: 1, text: 'jump' },
    ]);
    annotations.writeNote('dense', { id: pinned.id, text: 'fall', iteration: 0 });
    expect(annotations.removeNote('dense', pinned.id)).toMatchObject({
      text: 'fall',
      iteration: 0,
    });
    annotations.rename('dense', '😀'.repeat(120));
    annotations.rename('dense', undefined);
    expect(store.summary('dense').name).toBe('dense');
    expect(store.summary('dense')).not.toHaveProperty('title');
  });

  it('that cannot be are refused with a code, and change nothing', () => {
    const { annotations } = store;
    const refused = (code: string, action: () => unknown): void => {
      expect(action).toThrow(expect.objectContaining({ code, kind: 'input' }));
    };
    for (const tag of ['', 'two words', 'a,b', '-x', 'a*', '\u202ex', 'x'.repeat(41)]) {
      refused('TAG_INVALID', () => annotations.tag(['dense'], tag, true));
    }
    refused('RUN_UNKNOWN', () => annotations.tag(['dense', 'nowhere'], 'a', true));
    expect(store.summary('dense')).not.toHaveProperty('tags');
    for (let i = 0; i < MOST_TAGS; i++) annotations.tag(['dense'], `t${i}`, true);
    refused('TAGS_TOO_MANY', () => annotations.tag(['sparse', 'dense'], 'more', true));
    expect(store.summary('sparse')).not.toHaveProperty('tags');
    refused('NOTE_INVALID', () => annotations.writeNote('dense', { text: ' \n ' }));
    refused('NOTE_INVALID', () => annotations.writeNote('dense', { text: 'a\u0007' }));
    for (const [run, iteration] of [
      // It has ended after one iteration; the other may still get there.
      ['dense', 2],
      ['going', 10],
    ] as const)
      refused('NOTE_INVALID', () =>
        annotations.writeNote(run, { text: 'a', iteration }),
      );
    expect(annotations.writeNote('going', { text: 'a', iteration: 9 })).toMatchObject({
      iteration: 9,
    });
    refused('NOTE_UNKNOWN', () => annotations.writeNote('dense', { id: 9, text: 'a' }));
    refused('NOTE_UNKNOWN', () => annotations.removeNote('dense', 9));
    refused('TITLE_INVALID', () => annotations.rename('dense', '\u202eevil'));
    refused('TITLE_INVALID', () => annotations.rename('dense', '😀'.repeat(121)));
    refused('RUN_UNKNOWN', () => annotations.rename('nowhere', 'x'));
  });

  it('are told to other processes by their numbers', () => {
    const { annotations } = store;
    const before = annotations.latest();
    annotations.tag(['dense', 'sparse'], 'a', true);
    const between = annotations.latest();
    annotations.tag(['dense'], 'a', true);
    expect(annotations.latest()).toBe(between);
    annotations.rename('coarse', 'c');
    expect(annotations.changedAfter(before)).toHaveLength(3);
    expect(annotations.changedAfter(between)).toEqual(['coarse']);
  });

  it('go with a purge', () => {
    store.annotations.tag(['dense'], 'a', true);
    store.annotations.writeNote('dense', { text: 'gone' });
    store.setDeleted('dense', true);
    store.purge('dense');
    const steps = store.space.clear();
    while (steps.next().done !== true);
    expect(store.runs.pages.vocabulary().values['tag']).toEqual([]);
    const raw = new Database(file);
    expect(raw.prepare('SELECT count(*) AS n FROM run_notes').get()).toEqual({ n: 0 });
    raw.close();
  });
});
