/** A command whose sweep another process takes over: it goes on to watch it. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followSweep } from '../../../src/cli/session/follow-sweep.ts';
import type { Workspace } from '../../../src/cli/session/workspace.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { done, entries, sampleSpec, started } from '../main/sample-records.ts';

/** A process that lives, and is another one. */
const OTHER = String(process.ppid);

let home: TemporaryStore;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  home = new TemporaryStore();
  home.store.sweeps.create({
    id: 'sweep',
    name: 'sweep',
    keys: [],
    points: [{ number: 1, label: 'one', values: {}, spec: sampleSpec() }],
    seeds: [1],
    atOnce: 1,
    createdAt: Date.now(),
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  home.close();
});

const takeAway = (): void => {
  const other = new Database(home.store.file);
  other
    .prepare('UPDATE sweeps SET driver = ?, driven_at = ?')
    .run(OTHER, Date.now() + 3_600_000);
  other.close();
};

it('watches it to its end, and tells how it ended', async () => {
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { store } = home;
  let isOver = false;
  const workspace = {
    store,
    coordinator: {
      launches: {
        create: (spec: never, switches: never, sweep: never) =>
          Promise.resolve(
            store.create({ id: 'run', spec, switches, createdAt: 1, sweep }),
          ),
        begin: () => Promise.resolve(),
      },
      following: { ended: () => new Promise(() => undefined) },
    },
    events: {},
    trouble: new Promise(() => undefined),
  };
  const exit = followSweep(workspace as unknown as Workspace, 'sweep', {
    json: true,
  }).finally(() => {
    isOver = true;
  });
  await vi.waitFor(() => {
    expect(store.sweeps.live('sweep')).toEqual(['run']);
  });
  takeAway();
  vi.advanceTimersByTime(12_000);
  await vi.waitFor(() => {
    expect(said).toHaveBeenCalledWith(
      'gradwire: another process drives sweep sweep now: this command watches it\n',
    );
  });
  expect(isOver).toBe(false);
  const failed = { ...done, type: 'failed', error: ERROR } as const;
  store.records.append('run', entries([started, failed]));
  expect(await exit).toBe(1);
});

const ERROR = { code: 'RANK_FAILED', kind: 'failure', message: 'x' } as const;
