/** A run that the page follows: no iteration is missing for good, however often the line breaks. */
import { expect, test } from 'vitest';
import { RunFeed } from '../../../src/renderer/state/runs/run-feed.svelte.ts';
import type { ErrorData } from '../../../src/shared/errors/errors.ts';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { iterationRecord } from './records.ts';
import { ScriptedHost, settle } from './scripted-host.ts';
import { withoutFrames } from './without-frames.ts';

const LOST: ErrorData = { code: 'CONNECTION_LOST', kind: 'failure', message: 'lost' };
const BUSY: ErrorData = { code: 'DATABASE_BUSY', kind: 'failure', message: 'busy' };

withoutFrames();

/** A run of one rank that is followed, and the store that has its iterations. */
function followed() {
  const host = new ScriptedHost();
  const feed = new RunFeed(host.connection, 'run');
  const entries: JournalEntry[] = [];
  const store = (count: number): readonly JournalEntry[] => {
    const first = entries.length;
    for (let iteration = first; iteration < first + count; iteration++) {
      const record = iterationRecord({ rank: 0, iteration });
      entries.push({ sequence: iteration + 1, record });
    }
    return entries.slice(first);
  };
  const detail = (): Partial<RunDetail> => ({
    id: 'run',
    state: 'running',
    ranks: 1,
    events: [],
    iterations: entries.length,
    lastSequence: entries.length,
  });
  const answerIterations = async (): Promise<void> => {
    const asked = host.next('iterations');
    const [, { from }] = asked.args as [string, { readonly from: number }];
    await asked.answer({ entries: entries.slice(from) });
  };
  return {
    feed,
    host,
    detail,
    store,
    answerIterations,
    /** Opens it with this many iterations. */
    open: async (count: number): Promise<void> => {
      store(count);
      await host.next('watch').answer(detail());
      const bins = { starts: [], cells: [], lastSequence: entries.length };
      await host.next('bins').answer(bins);
      await answerIterations();
    },
    /** Answers a read of what was missed. */
    read: async (): Promise<void> => {
      await host.next('run').answer(detail());
      await answerIterations();
    },
    push: async (pushed: readonly JournalEntry[]): Promise<void> => {
      host.tell('records', 'run', pushed);
      await settle();
    },
    missing: (): readonly number[] =>
      entries.flatMap((_, iteration) =>
        feed.history?.recent.has(iteration, 0) === true ? [] : [iteration],
      ),
  };
}

test('what was missed is read though a push comes before the answer and the line breaks again', async () => {
  const { feed, host, missing, open, push, read, store } = followed();
  await open(10);
  expect(missing()).toEqual([]);
  store(10);
  host.tell('resync');
  await push(store(1));
  while (host.waiting('run').length > 0) await host.next('run').fail(LOST);
  expect(missing()).toHaveLength(10);
  host.tell('resync');
  await read();
  expect(missing()).toEqual([]);
  feed.close();
});

test('what was missed is read after a read that failed by itself', async () => {
  const { detail, feed, host, missing, open, push, read, store } = followed();
  await open(10);
  store(10);
  host.tell('resync');
  await host.next('run').answer(detail());
  await host.next('iterations').fail(BUSY);
  // No gap is before these: the last record of the run is known by now.
  await push(store(5));
  expect(missing()).toHaveLength(10);
  host.tell('resync');
  await read();
  expect(missing()).toEqual([]);
  expect(feed.error).toBeUndefined();
  feed.close();
});

test('what was missed while the run was opened is read', async () => {
  const { detail, feed, host, missing, push, read, store } = followed();
  const stored = store(10);
  await host.next('watch').answer(detail());
  await host.next('bins').answer({ starts: [], cells: [], lastSequence: 10 });
  await push(store(1));
  store(10);
  await push(store(1));
  host.tell('resync');
  await host.next('iterations').answer({ entries: stored });
  await read();
  expect(missing()).toEqual([]);
  feed.close();
});

test('a gap that is noticed while another one is read is read, too', async () => {
  const { detail, feed, host, missing, open, push, read, store } = followed();
  await open(10);
  const entries = store(10);
  host.tell('resync');
  const early = detail();
  store(10);
  await push(store(1));
  await host.next('run').answer(early);
  await host.next('iterations').answer({ entries });
  expect(missing()).toHaveLength(10);
  await read();
  expect(missing()).toEqual([]);
  feed.close();
});
