/** Starts whose answer is lost: where Slurm may have taken a job, the run is not called failed. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { NodeLink } from '../../../src/main/cluster/node-link.ts';
import { ownName } from '../../../src/main/home/process-name.ts';
import type { CoordinatorParts } from '../../../src/main/runs/coordinator-parts.ts';
import { RunLaunches } from '../../../src/main/runs/run-launches.ts';
import { RunRecovery } from '../../../src/main/runs/run-recovery.ts';
import { RunStops } from '../../../src/main/runs/run-stops.ts';
import type { ErrorCode } from '../../../src/shared/codes/error-code.ts';
import { failure } from '../../../src/shared/errors/errors.ts';
import { TemporaryStore } from '../../harness/temporary-store.ts';
import { sampleSpec } from './sample-records.ts';

let home: TemporaryStore;
beforeEach(() => {
  home = new TemporaryStore();
});
afterEach(() => {
  home.close();
});

/**
 * A machine whose connection ends while it starts a run.
 * @param isSent whether it is asked for ranks before that
 */
function losing(code: ErrorCode, slurm?: object, isSent = true) {
  const lost = () => Promise.reject(failure(code, 'the connection was closed'));
  const spec = sampleSpec();
  const launcher = ownName();
  home.store.create({ id: 'r', spec, switches: [], createdAt: Date.now(), launcher });
  const taken: string[] = [];
  const link = {
    name: spec.world.nodes[0]!,
    slurm,
    connection: undefined,
    addresses: { there: '127.0.0.1' },
    connect: () => Promise.resolve(),
    elsewhere: () => Promise.resolve(new Map()),
    connectToLaunch: () =>
      isSent ? Promise.resolve({ request: () => lost() }) : lost(),
    request: () => Promise.resolve({ runs: [] }),
    takeOver: () => taken.push('later'),
  } as unknown as NodeLink;
  const parts = {
    store: home.store,
    scope: 'own',
    kept: new Set(),
    stops: new RunStops(),
    linksOf: () => [link],
    networkProfile: () => Promise.resolve(undefined),
    endings: { of: () => Promise.resolve() },
    followers: { ids: () => [], has: () => false, dropAll: () => 0, drop: () => 0 },
    news: { changed: () => undefined, linkTrouble: () => undefined },
  };
  const recovery = new RunRecovery(parts as unknown as CoordinatorParts);
  Object.assign(parts, { recovery });
  const launches = new RunLaunches(parts as unknown as CoordinatorParts);
  return { launches, link, recovery, taken };
}

test.each(['SUPERVISOR_LOST', 'SUPERVISOR_TIMEOUT'] as const)(
  'a run of a cluster is followed later after %s, or lost once the cluster denies it',
  async (code) => {
    const { launches, link, recovery, taken } = losing(code, { nodes: 1 });
    expect(await launches.begin('r')).toMatchObject({ id: 'r', state: 'starting' });
    expect(taken).toEqual(['later']);
    expect(recovery.follows(link)).toBe(true);
    // This process, which launched it, still lives.
    await recovery.synchronise(link);
    expect(home.store.summary('r').error?.code).toBe('RUN_LOST');
  },
);

test('a run that the cluster was not asked to take has failed', async () => {
  const { launches, taken } = losing('SUPERVISOR_LOST', { nodes: 1 }, false);
  await expect(launches.begin('r')).rejects.toMatchObject({ code: 'SUPERVISOR_LOST' });
  expect(home.store.summary('r')).toMatchObject({ state: 'failed' });
  expect(taken).toEqual([]);
});

test('a run of another machine has not begun', async () => {
  const { launches } = losing('SUPERVISOR_LOST');
  await expect(launches.begin('r')).rejects.toMatchObject({ code: 'SUPERVISOR_LOST' });
  expect(home.store.summary('r')).toMatchObject({ state: 'failed' });
});

test('a run that a cluster refuses has failed', async () => {
  const { launches } = losing('SLURM_REFUSED', { nodes: 1 });
  await expect(launches.begin('r')).rejects.toMatchObject({ code: 'SLURM_REFUSED' });
  expect(home.store.summary('r').error?.code).toBe('SLURM_REFUSED');
});
