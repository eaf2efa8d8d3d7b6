/** The list of runs: rows in sight are there, and no run is missing for good. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RunListFeed } from '../../../src/renderer/state/runs/run-list-feed.svelte.ts';
import type { RunPage, RunPageQuery } from '../../../src/shared/run-query/run-page.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { ScriptedHost, settle } from './scripted-host.ts';

/** The pause before changes have the list read again. */
const PAUSE_MS = 300;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const summary = (id: string, more: Partial<RunSummary> = {}): RunSummary =>
  ({ id, state: 'completed', deleted: false, ...more }) as RunSummary;

/** Ids of a list's chunk of a hundred rows. */
const chunk = (number: number): readonly string[] =>
  Array.from({ length: 100 }, (_, index) => `run-${number * 100 + index}`);

function opened() {
  const host = new ScriptedHost();
  const feed = new RunListFeed(host.connection);
  return {
    feed,
    /** Offsets of what is asked for. */
    offsets: () =>
      host.waiting('runPage').map(({ args }) => (args[0] as RunPageQuery).offset),
    /** Answers with these runs what was asked for first. */
    answer: async (...ids: readonly string[]): Promise<void> => {
      const page: RunPage<RunSummary> = {
        total: ids.length === 100 ? 300 : ids.length,
        bytes: 0,
        rows: ids.map((id) => ({ run: summary(id), values: [] })),
      };
      await host.next('runPage').answer(page);
    },
    tell: (run: RunSummary): void => host.tell('runChanged', run),
    pause: async (): Promise<void> => {
      vi.advanceTimersByTime(PAUSE_MS);
      await settle();
    },
    idOf: (index: number): string | undefined => feed.row(index)?.run.id,
  };
}

test('rows are read that came into sight while the list was read again', async () => {
  const { answer, feed, idOf, offsets, pause, tell } = opened();
  feed.ask({});
  await answer(...chunk(0));
  feed.see(100, 150);
  await answer(...chunk(1));
  tell(summary('run-120', { annotated: 1 }));
  await pause();
  expect(offsets()).toEqual([100]);
  // They are there, but of the list as it was.
  feed.see(0, 50);
  expect(offsets()).toEqual([100]);
  await answer(...chunk(1));
  expect(offsets()).toEqual([0]);
  await answer(...chunk(0));
  expect([20, 120].map(idOf)).toEqual(['run-20', 'run-120']);
  feed.close();
});

test('a run is there that was deleted and restored while the list was read again', async () => {
  const { answer, feed, idOf, pause, tell } = opened();
  feed.ask({});
  await answer('a', 'b');
  tell(summary('b', { annotated: 1 }));
  await pause();
  // A single event, of the run as it was before; the answer is from in between.
  tell(summary('a'));
  await answer('b');
  expect(idOf(0)).toBe('b');
  await pause();
  await answer('a', 'b');
  expect(idOf(0)).toBe('a');
  feed.close();
});

test('a run is there that was deleted and restored while rows were read', async () => {
  const { answer, feed, idOf, offsets, pause, tell } = opened();
  feed.ask({});
  await answer(...chunk(0));
  const [, ...others] = chunk(1);
  feed.see(100, 150);
  await answer(...chunk(1));
  feed.see(200, 250);
  tell(summary('run-100'));
  await answer(...others);
  await pause();
  expect(offsets()).toEqual([200]);
  expect(idOf(100)).toBe('run-100');
  feed.close();
});

test('a run is there that was deleted and restored while another list was asked for', async () => {
  const { answer, feed, idOf, pause, tell } = opened();
  const annotated = summary('a', { annotated: 1 });
  feed.ask({ filter: 'tag:first' });
  await answer('b');
  tell(annotated);
  await pause();
  await answer('b');
  feed.ask({ filter: 'tag:second' });
  await answer('b');
  tell(annotated);
  await pause();
  await answer('a', 'b');
  expect(idOf(0)).toBe('a');
  feed.close();
});

test('news of runs in progress do not have the list read again and again', async () => {
  const { answer, feed, offsets, pause, tell } = opened();
  const live = summary('live', { state: 'running' });
  feed.ask({});
  tell(live);
  await answer('a');
  await pause();
  tell(live);
  await answer('a');
  for (let time = 0; time < 10; time++) {
    tell(live);
    await pause();
    expect(offsets()).toEqual([]);
  }
  feed.close();
});
