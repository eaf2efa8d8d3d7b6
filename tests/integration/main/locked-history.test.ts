/**
 * Another process holds the history for longer than writers wait, while `serve` stores a run. Then a
 * command stores what was kept back, and acknowledges it, before `serve` has tried again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { LASTING_ALONE } from '../../harness/lasting-runs.ts';
import { until } from '../../harness/processes.ts';
import { openServer } from '../../harness/server.ts';

/** A writer waits five seconds: some have given up when it is over. */
const LOCK_MS = 18_000;

test('a run goes on, and is stored later', { tags: 'soak' }, async () => {
  await using home = new GradwireHome();
  await using _ = await openServer(home);
  // Much is on its way when a follower gives up.
  const fast = 'workload.synthetic={layers: [10], computeMs: 0.2}';
  const settings = [...LASTING_ALONE, fast].flatMap((one) => ['--set', one]);
  const launched = await home.run(['run', 'quickstart', '--detach', ...settings]);
  const run = succeeded(launched).stdout.trim();
  const file = resolveHome({ GRADWIRE_HOME: home.directory }).database;
  using closing = new DisposableStack();
  const store = closing.adopt(RunStore.open(file), (opened) => {
    opened.close();
  });
  const storedBeyond = (many: number): Promise<unknown> =>
    until(
      () => store.summary(run),
      ({ iterations, state }) => state !== 'running' || iterations > many,
      `more than ${many} iterations to be stored`,
    );
  await until(
    () => store.summary(run).state,
    (state) => state === 'running',
    'the run to begin',
  );
  for (let again = 0; again < 4; again++) {
    await storedBeyond(store.summary(run).iterations + 1000);
    const other = closing.adopt(new Database(file), (opened) => {
      opened.close();
    });
    other.exec('BEGIN IMMEDIATE');
    await sleep(LOCK_MS);
    other.exec('COMMIT');
    succeeded(await home.run(['runs', 'list']));
  }
  await storedBeyond(store.summary(run).iterations + 1000);
  expect(store.summary(run)).toMatchObject({ state: 'running' });
  succeeded(await home.run(['runs', 'stop', run]));
  expect(store.summary(run).state).toBe('stopped');
});
