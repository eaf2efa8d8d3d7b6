/** Alerts as pages are told of them, of runs that this process or another one stores. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PageAlerts } from '../../../src/main/app/page-alerts.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { done, entries, sampleSpec, started } from './sample-records.ts';

let directory: string;
let ours: RunStore;
/** The same database as another process has it. */
let theirs: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-alerts-'));
  const file = path.join(directory, 'gradwire.db');
  ours = RunStore.open(file);
  theirs = RunStore.open(file);
});
afterEach(() => {
  ours.close();
  theirs.close();
  rmSync(directory, { recursive: true });
});

/** The records of a run that does no better than guessing. */
const guessing = entries([
  { ...started, chance: 0.1 },
  { ...done, iterations: 60, metric: 0.1 },
]);
const error = { code: 'X', kind: 'failure', message: 'gone' } as const;

const begin = (id: string): RunSummary =>
  theirs.create({ id, spec: sampleSpec(), switches: [], createdAt: 1 });
const atChance = (id: string): RunSummary =>
  theirs.records.append(id, guessing).summary;

test('of a run that another process began and ended meanwhile', () => {
  const alerts = new PageAlerts(ours);
  begin('r');
  const summary = atChance('r');
  expect(alerts.look(summary)).toMatchObject([
    { run: 'r', name: 'sample', rule: 'at-chance', title: 'At chance' },
  ]);
  expect(alerts.look(ours.summary('r'))).toEqual([]);
});

test('a failure is told with and without a last record, and only once', () => {
  const alerts = new PageAlerts(ours);
  begin('recorded');
  const failed: RunRecord = { type: 'failed', at: 5, error };
  const { summary } = theirs.records.append('recorded', entries([failed]));
  const at = new Date(5).toISOString();
  expect(alerts.look(summary)).toMatchObject([
    { run: 'recorded', rule: 'run-failed', message: 'gone', at },
  ]);
  begin('lost');
  expect(alerts.look(ours.summary('lost'))).toEqual([]);
  expect(alerts.look(theirs.fail('lost', error, 5))).toMatchObject([
    { run: 'lost', rule: 'run-failed' },
  ]);
  expect(alerts.look(ours.summary('lost'))).toEqual([]);
  // A user who stops a run is not told that it failed.
  begin('stopped');
  const stopped = theirs.fail('stopped', { ...error, code: 'RUN_STOPPED' }, 5);
  expect(alerts.look(stopped)).toEqual([]);
  ours.settings.set('alerts.run-failed.on', false);
  begin('off');
  expect(alerts.look(theirs.fail('off', error, 5))).toEqual([]);
});

test('of runs that are older, what comes later', () => {
  begin('ended');
  const ended = atChance('ended');
  begin('going');
  const alerts = new PageAlerts(ours);
  expect(alerts.look(ended)).toEqual([]);
  expect(alerts.look(atChance('going'))).toMatchObject([
    { run: 'going', rule: 'at-chance' },
  ]);
});

test('what cannot be read yet is told later', () => {
  const alerts = new PageAlerts(ours);
  begin('r');
  const summary = atChance('r');
  expect(alerts.look({ ...summary, id: 'unknown' })).toEqual([]);
  expect(alerts.look(summary)).toHaveLength(1);
});
