/** The driver of a sweep while a launch takes long, after another process has taken it over, and at its own end. */
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { failure, inputError } from '../../../src/shared/errors/errors.ts';
import { SweepRunner } from '../../../src/main/sweeps/sweep-runner.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec } from './sample-records.ts';

let home: TemporaryStore;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  home = new TemporaryStore();
  home.store.sweeps.create({
    id: 'sweep',
    name: 'sweep',
    keys: [],
    points: [{ number: 1, label: 'one', values: {}, spec: sampleSpec() }],
    seeds: [1, 2],
    atOnce: 1,
    createdAt: Date.now(),
  });
});
afterEach(() => {
  vi.useRealTimers();
  home.close();
});

interface Launching {
  readonly end: Promise<string>;
  /** Ends the launch, which fails. */
  readonly settle: (error: Error) => void;
  readonly runner: SweepRunner;
}

/** A driver in the middle of a launch. */
async function launching(): Promise<Launching> {
  const { promise, reject } = Promise.withResolvers<never>();
  const begun = Promise.withResolvers<undefined>();
  const create = (): Promise<never> => {
    begun.resolve(undefined);
    return promise;
  };
  const runner = new SweepRunner({
    store: home.store,
    coordinator: { launches: { create } } as never,
    sweep: 'sweep',
    events: { begun: () => undefined, ended: () => undefined },
  });
  const end = runner.drive();
  await begun.promise;
  return { end, runner, settle: reject };
}

const takeAway = (): void => {
  const other = new Database(home.store.file);
  other
    .prepare('UPDATE sweeps SET driver = ?, driven_at = ?')
    .run(String(process.ppid), Date.now());
  other.close();
};

it('is driven by the process whose launch takes minutes', async () => {
  const { end, settle } = await launching();
  for (let second = 0; second < 180; second++) {
    vi.advanceTimersByTime(1000);
    expect(home.store.sweeps.summary('sweep').state).toBe('running');
  }
  // The computer sleeps, so timers stand still, and then wakes up.
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(1000);
  expect(home.store.sweeps.claim('sweep', String(process.ppid))).toBe(false);
  settle(failure('SUPERVISOR_TIMEOUT', 'no answer'));
  expect(await end).toBe('stopped');
  expect(home.store.sweeps.waiting()).toEqual([]);
});

it('is not stopped for a failure here once another process drives it', async () => {
  const { end, settle } = await launching();
  takeAway();
  settle(failure('SUPERVISOR_TIMEOUT', 'no answer'));
  expect(await end).toBe('left');
  expect(home.store.sweeps.summary('sweep')).toMatchObject({ state: 'running' });
  expect(home.store.sweeps.summary('sweep').error).toBeUndefined();
});

it.each([
  failure('SSH_AUTH_CANCELLED', 'refused'),
  inputError('DATA_SET_UNKNOWN', 'no', {}),
])('neither halts nor fails a run for what its own end causes (%s)', async (error) => {
  const { end, runner, settle } = await launching();
  runner.leave();
  settle(error);
  expect(await end).toBe('left');
  const summary = home.store.sweeps.summary('sweep');
  expect([summary.state, summary.error]).toEqual(['waiting', undefined]);
  expect(home.store.sweeps.next('sweep')).toMatchObject({ number: 1, seed: 1 });
});
