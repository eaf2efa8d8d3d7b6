/** How long the end of a run waits for the journals of its other machines. */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import { RunEndings } from '../../../src/main/runs/run-endings.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { entries, sampleSpec, started } from './sample-records.ts';

const NODES = ['one', 'two', 'three'];

let directory: string;
let store: RunStore;
/** Nodes that answer. */
let reached: Set<string>;
let endings: RunEndings;

beforeEach(() => {
  vi.useFakeTimers();
  directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-endings-'));
  store = RunStore.open(path.join(directory, 'gradwire.db'));
  const spec = sampleSpec({ world: { ranks: 3, nodes: NODES } });
  store.create({ id: 'run', spec, switches: [], createdAt: 1 });
  reached = new Set(NODES);
  const links = NODES.map((name) => ({
    name,
    connection: {
      request: (_: string, __: object, deadlineMs = 30_000): Promise<object> =>
        reached.has(name)
          ? Promise.resolve({ runs: [] })
          : new Promise((_resolve, reject) => {
              setTimeout(() => {
                reject(failure('SUPERVISOR_TIMEOUT', 'no answer'));
              }, deadlineMs);
            }),
    },
  }));
  endings = new RunEndings({
    store,
    linksOf: () => links as unknown as readonly NodeLink[],
    news: {
      lastTold: () => undefined,
      stored: () => undefined,
      tellRest: (run) => {
        endings.note(store.summary(run));
      },
      trouble: (error) => {
        throw error;
      },
    },
  });
});
afterEach(() => {
  endings.close();
  store.close();
  rmSync(directory, { recursive: true });
  vi.useRealTimers();
});

function fails(node: string): void {
  const error = failure('PEER_SILENT', 'rank 2 is silent', { rank: 2, place: 'three' });
  const failed = { type: 'failed', at: 2, error: error.toData() } as const;
  store.records.append('run', entries([started, failed]), { node });
  endings.awaitJournals('run');
}

test('a machine that does not answer is not waited for', async () => {
  reached.delete('three');
  fails('one');
  fails('two');
  await vi.advanceTimersByTimeAsync(1400);
  expect(store.summary('run').state).toBe('running');
  await vi.advanceTimersByTimeAsync(200);
  expect(store.summary('run')).toMatchObject({
    state: 'failed',
    error: { code: 'PEER_SILENT', rank: 2, place: 'three' },
  });
});

test('a journal that ends after the lost machine was found ends the run', async () => {
  reached.delete('three');
  fails('one');
  await vi.advanceTimersByTimeAsync(2000);
  expect(store.summary('run').state).toBe('running');
  fails('two');
  expect(store.summary('run').state).toBe('failed');
});

test('machines that answer have 5 s to say how the run ended there', async () => {
  fails('one');
  await vi.advanceTimersByTimeAsync(4900);
  expect(store.summary('run').state).toBe('running');
  await vi.advanceTimersByTimeAsync(200);
  expect(store.summary('run').state).toBe('failed');
});

test('an end that another process has stored is noticed, whatever the links do', async () => {
  const ended = endings.of('run');
  const other = RunStore.open(path.join(directory, 'gradwire.db'));
  other.fail('run', failure('RUN_LOST', 'nobody knows it').toData(), 3);
  other.close();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await ended).toMatchObject({ state: 'failed', error: { code: 'RUN_LOST' } });
});

test('who waits for the end of a run that is left is told why, then and later', async () => {
  const reason = failure('RUN_UNFOLLOWED', 'its machine refuses').toData();
  const ended = endings.of('run');
  endings.leave('run', reason);
  await expect(ended).rejects.toMatchObject({ code: 'RUN_UNFOLLOWED' });
  expect(endings.awaited).toEqual([]);
});
