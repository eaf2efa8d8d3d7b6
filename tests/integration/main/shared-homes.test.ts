/**
 * A home that containers share: process ids of one mean nothing in another. The test is one
 * container, a command in a PID namespace of its own the other. Linux, root.
 */
import { expect, it } from 'vitest';
import { ownName } from '../../../src/main/home/process-name.ts';
import { RunStore } from '../../../src/main/store/run-store.ts';
import { GradwireHome, succeeded, type Finished } from '../../harness/gradwire.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import path from 'node:path';

const CONTAINER =
  'exec unshare --pid --fork --mount-proc bash -c \'exec "$@"\' bash "$@"';

it('a process in another container launches its run and drives its sweep', async () => {
  await using home = new GradwireHome();
  const inContainer = async (args: readonly string[]): Promise<Finished> =>
    succeeded(await home.start(args, { shell: CONTAINER }).finished);
  const store = RunStore.open(path.join(home.directory, 'gradwire.db'));
  try {
    const spec = sampleSpec();
    store.create({
      id: 'launched',
      spec,
      switches: [],
      createdAt: Date.now(),
      launcher: ownName(),
    });
    store.sweeps.create({
      id: 'driven',
      name: 'driven',
      keys: ['optimizer.lr'],
      points: [{ number: 1, label: 'lr 0.1', values: { 'optimizer.lr': '0.1' }, spec }],
      seeds: [1],
      atOnce: 1,
      createdAt: Date.now(),
      driver: ownName(),
    });
    const runs = await inContainer(['runs', 'list', '--json']);
    expect(JSON.parse(runs.stdout)).toMatchObject({
      id: 'launched',
      state: 'starting',
    });
    const sweeps = await inContainer(['sweeps', 'list', '--json']);
    expect(JSON.parse(sweeps.stdout)).toMatchObject({ id: 'driven', state: 'running' });
  } finally {
    store.close();
  }
});
