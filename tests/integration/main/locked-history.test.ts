/**
 * Another process holds the history for longer than writers wait, while `serve` stores a run. Then a
 * command looks at the run, and may store and acknowledge what `serve` has not stored yet.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { resolveHome } from '../../../src/main/home/home.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { openServer } from '../../harness/server.ts';

/** A writer waits five seconds: some have given up when it is over. */
const LOCK_MS = 18_000;
const SETTINGS = ['world.ranks=2', 'iterations=1000000', 'evaluateEvery=0'];

test('runs go on, and are stored later', { tags: 'soak' }, async () => {
  await using owned = new AsyncDisposableStack();
  const home = owned.use(new GradwireHome());
  owned.use(await openServer(home));
  const file = resolveHome({ GRADWIRE_HOME: home.directory }).database;
  const store = owned.adopt(RunStore.open(file), (opened) => {
    opened.close();
  });
  for (let again = 0; again < 3; again++) {
    const set = SETTINGS.flatMap((one) => ['--set', one]);
    const launched = await home.run(['run', 'sparse-logistic', '--detach', ...set]);
    const run = succeeded(launched).stdout.trim();
    const stored = (): Promise<unknown> => {
      const before = store.summary(run).iterations;
      return until(
        () => store.summary(run),
        ({ iterations, state }) =>
          !['starting', 'running'].includes(state) || iterations > before + 1000,
        'iterations to be stored',
      );
    };
    await stored();
    const other = owned.adopt(new Database(file), (opened) => {
      opened.close();
    });
    other.exec('BEGIN IMMEDIATE');
    await sleep(LOCK_MS);
    other.exec('COMMIT');
    await stored();
    succeeded(await home.run(['runs', 'list']));
    await stored();
    expect(store.summary(run)).toMatchObject({ state: 'running' });
    succeeded(await home.run(['runs', 'stop', run]));
    expect(store.summary(run).state).toBe('stopped');
  }
});
