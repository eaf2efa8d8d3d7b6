/** `gradwire runs trace` waits for records of the ranks, whichever process stores them. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { traced } from '../../../src/cli/session/traced.ts';
import type { Workspace } from '../../../src/cli/session/workspace.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { entries, sampleSpec, started } from '../main/sample-records.ts';

let directory: string;
let ours: RunStore;
/** The same database as another process has it. */
let theirs: RunStore;
beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-traced-'));
  const file = path.join(directory, 'gradwire.db');
  ours = RunStore.open(file);
  theirs = RunStore.open(file);
  ours.create({ id: 'r', spec: sampleSpec(), switches: [], createdAt: 1 });
  ours.records.append('r', entries([started]));
});
afterEach(() => {
  vi.useRealTimers();
  ours.close();
  theirs.close();
  rmSync(directory, { recursive: true });
});

const traceOf = (iteration: number, rank: number): RunRecord => ({
  type: 'trace',
  rank,
  iteration,
  at: 1,
  origin: 0,
  wall: 1000,
  threads: ['trainer'],
  buckets: [],
  spans: [],
  messages: [],
});

const interrupted: RunRecord = {
  type: 'interrupted',
  at: 2,
  node: 'host',
  error: { code: 'RANK_DIED', kind: 'failure', message: 'rank 1 died' },
};

const followed = { follow: async () => undefined, caughtUp: async () => undefined };

test('records that another process stores are counted', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const give = vi.fn(async () => undefined);
  const coordinator = {
    following: { ...followed, ended: () => new Promise(() => {}) },
    orders: { give },
  };
  const workspace = { coordinator, events: {}, store: ours } as unknown as Workspace;
  let found: unknown;
  void traced(workspace, 'r', 2).then((stretch) => (found = stretch));
  await vi.waitFor(() => expect(give).toHaveBeenCalled());
  const records = [traceOf(4, 0), traceOf(4, 1), traceOf(5, 0), traceOf(5, 1)];
  theirs.records.append('r', entries(records.slice(0, 3), 1));
  await vi.advanceTimersByTimeAsync(1000);
  expect(found).toBeUndefined();
  theirs.records.append('r', entries(records.slice(3), 4));
  await vi.advanceTimersByTimeAsync(1000);
  expect(found).toEqual({ from: 4, to: 6, records: 4 });
});

test.each([
  { records: [traceOf(4, 0), traceOf(4, 1), traceOf(5, 0)], come: 3 },
  { records: [], come: 0 },
])('an interruption ends the wait after $come records', async ({ come, records }) => {
  const give = vi.fn(async () => undefined);
  const coordinator = {
    following: { ...followed, ended: () => new Promise(() => {}) },
    orders: { give },
  };
  const events: Partial<Workspace['events']> = {};
  const workspace = { coordinator, events, store: ours } as unknown as Workspace;
  const waiting = traced(workspace, 'r', 2);
  await vi.waitFor(() => expect(give).toHaveBeenCalled());
  const all = entries([...records, interrupted], 1);
  ours.records.append('r', all);
  events.records!('r', all);
  if (come > 0) {
    const cut = { why: 'interrupted', come, expected: 4 };
    expect(await waiting).toEqual({ from: 4, to: 6, records: come, cut });
  } else {
    await expect(waiting).rejects.toMatchObject({
      code: 'TRACE_MISSING',
      next: 'Trace again once the run goes on.',
    });
  }
});

test('what happened before the order does not end the wait', async () => {
  const events: Partial<Workspace['events']> = {};
  const tell = (records: readonly RunRecord[], from: number): void => {
    const all = entries(records, from);
    ours.records.append('r', all);
    events.records?.('r', all);
  };
  const give = vi.fn(async () => undefined);
  const caughtUp = async (): Promise<void> => {
    tell([traceOf(1, 0), traceOf(1, 1), interrupted], 1);
  };
  const following = { ...followed, caughtUp, ended: () => new Promise(() => {}) };
  const coordinator = { following, orders: { give } };
  const workspace = { coordinator, events, store: ours } as unknown as Workspace;
  const waiting = traced(workspace, 'r', 2);
  await vi.waitFor(() => expect(give).toHaveBeenCalled());
  tell([traceOf(4, 0), traceOf(4, 1), traceOf(5, 0), traceOf(5, 1)], 4);
  expect(await waiting).toEqual({ from: 4, to: 6, records: 4 });
});
