/** Reads that failed while the connection was lost are repeated when it is back. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Figures } from '../../../src/renderer/state/figures/figures.svelte.ts';
import { Toasts } from '../../../src/renderer/state/page/toasts.svelte.ts';
import { LatestAnswer } from '../../../src/renderer/state/plan/latest-answer.svelte.ts';
import { PinnedIteration } from '../../../src/renderer/state/runs/pinned-iteration.svelte.ts';
import { RunNotes } from '../../../src/renderer/state/runs/run-notes.svelte.ts';
import { RunTable } from '../../../src/renderer/state/runs/run-table.svelte.ts';
import { SweepFeed } from '../../../src/renderer/state/sweeps/sweep-feed.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import { iterationRecord } from './records.ts';
import { ScriptedHost, settle } from './scripted-host.ts';
import { withoutFrames } from './without-frames.ts';

const LOST: ErrorData = { code: 'CONNECTION_LOST', kind: 'failure', message: 'lost' };

withoutFrames();
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function pass(milliseconds: number): Promise<void> {
  vi.advanceTimersByTime(milliseconds);
  await settle();
}

const noteOf = (id: number) => ({ id, text: 'a note', writtenAt: 1 });

test('the notes of a state are read again with the next summary, once', async () => {
  const host = new ScriptedHost();
  const toasts = new Toasts();
  const notes = new RunNotes('run', host.connection.api, toasts);
  void notes.follow(1);
  await host.next('notes').fail(LOST);
  expect(toasts.toasts).toHaveLength(1);
  void notes.follow(1);
  await host.next('notes').answer([noteOf(1)]);
  expect(notes.all).toEqual([noteOf(1)]);
  void notes.follow(1);
  expect(host.waiting('notes')).toEqual([]);
  toasts.close();
});

test('the notes of the newest state stay, whichever answer comes first', async () => {
  const host = new ScriptedHost();
  const notes = new RunNotes('run', host.connection.api, new Toasts());
  void notes.follow(1);
  void notes.follow(2);
  await host.waiting('notes')[1]!.answer([noteOf(2)]);
  await host.next('notes').answer([]);
  expect(notes.all).toEqual([noteOf(2)]);
});

test('the last question is asked again, unless it has an answer or holds no longer', async () => {
  const host = new ScriptedHost();
  const { connection } = host;
  const latest = new LatestAnswer(connection, (run: string) =>
    connection.api.comparedRun(run),
  );
  const ask = async (run: string): Promise<void> => {
    latest.ask(run);
    await pass(150);
  };
  const isBack = async (): Promise<void> => {
    host.tell('resync');
    await pass(150);
  };
  await ask('first');
  await host.next('comparedRun').fail(LOST);
  expect(latest.error).toEqual(LOST);
  await isBack();
  await host.next('comparedRun').answer('an answer');
  expect([latest.answer, latest.error]).toEqual(['an answer', undefined]);
  await isBack();
  expect(host.waiting('comparedRun')).toEqual([]);
  for (const leave of [() => latest.refuse(LOST), () => latest.close()]) {
    await ask('second');
    await host.next('comparedRun').fail(LOST);
    leave();
    await isBack();
    expect(host.waiting('comparedRun')).toEqual([]);
  }
});

test('the pinned iteration of an ended run is read again', async () => {
  const host = new ScriptedHost();
  const pinned = new PinnedIteration(host.connection, 'run');
  const record = iterationRecord({ rank: 0, iteration: 5 });
  const piece = { entries: [{ sequence: 6, record }] };
  void pinned.want({ iteration: 5, ranks: 1, awaited: 0 });
  await host.next('iterations').fail(LOST);
  expect(pinned.error).toEqual(LOST);
  host.tell('resync');
  await host.next('iterations').answer(piece);
  expect(pinned.read?.records).toEqual([record]);
  // Those around it are lost this time.
  await host.next('iterations').fail(LOST);
  host.tell('resync');
  for (let time = 0; time < 2; time++) await host.next('iterations').answer(piece);
  expect(pinned.read?.around).toEqual([record]);
  expect(pinned.error).toBeUndefined();
  host.tell('resync');
  expect(host.waiting('iterations')).toEqual([]);
  pinned.close();
});

test('figures are listed again', async () => {
  const host = new ScriptedHost();
  const figures = new Figures(host.connection);
  void figures.load();
  await host.next('figures').fail(LOST);
  expect(figures.error).toEqual(LOST);
  host.tell('resync');
  await host.next('figures').answer([]);
  expect([figures.all, figures.error]).toEqual([[], undefined]);
  figures.close();
  host.tell('resync');
  expect(host.waiting('figures')).toEqual([]);
});

test('the table of a view that stands still is read again', async () => {
  const host = new ScriptedHost();
  const table = new RunTable(host.connection, {
    run: 'run',
    type: 'utilisation',
    read: (api, run: string) => api.comparedRun(run),
  });
  host.tell('resync');
  expect(host.waiting('comparedRun')).toEqual([]);
  table.want('all');
  await host.next('comparedRun').fail(LOST);
  host.tell('resync');
  await host.next('comparedRun').answer('a table');
  expect(table.shown).toEqual({ query: 'all', table: 'a table' });
  table.close();
});

test('a sweep is read again when runs were deleted for good', async () => {
  const host = new ScriptedHost();
  const { connection } = host;
  const feed = new SweepFeed(connection, () => connection.api.sweeps());
  await host.next('sweeps').answer(['with its run']);
  host.tell('historyPurged');
  await pass(500);
  await host.next('sweeps').answer(['without it']);
  expect(feed.answer).toEqual(['without it']);
  feed.close();
});
