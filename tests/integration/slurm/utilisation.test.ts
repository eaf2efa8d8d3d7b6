/** Records of the use of nodes that Slurm allocates: a real Slurm of two nodes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../../src/shared/records/journal-entry.ts';
import type { UtilisationRecord } from '../../../src/shared/records/utilisation.ts';
import {
  isAlive,
  processesWith,
  until,
  type ProcessEntry,
} from '../../harness/processes.ts';
import { SlurmCluster, slurmMissing } from '../../harness/slurm.ts';
import { endOf, SupervisorNode } from '../runs/supervisor-node.ts';
import {
  firstRecord,
  noJobs,
  recordsOf,
  slurmSettings,
  slurmSpec,
} from './slurm-runs.ts';

const LONG = { iterations: 1_000_000 };

describe.skipIf(slurmMissing() !== undefined)('the use of allotted nodes', () => {
  let slurm: SlurmCluster;
  let node: SupervisorNode;
  beforeAll(async () => {
    slurm = await SlurmCluster.start();
    node = await SupervisorNode.start(undefined, slurm.environment);
  });
  afterAll(async () => {
    await node[Symbol.asyncDispose]();
    await slurm[Symbol.asyncDispose]();
  });

  const processes = (title: string): readonly ProcessEntry[] =>
    processesWith(`SLURM_CONF=${slurm.environment.SLURM_CONF!}`, title);
  const watchers = (run: string): readonly ProcessEntry[] =>
    processes(`gradwire-watcher ${run} `);

  const unwatched = (entries: readonly JournalEntry[]) =>
    recordsOf(entries, 'notice').filter(({ code }) => code === 'NODE_UNWATCHED');

  /** The watchers of both nodes, once they are there. */
  const bothWatchers = (run: string): Promise<readonly ProcessEntry[]> =>
    until(
      () => watchers(run),
      (found) => found.length === 2,
      'a watcher on each node',
    );

  const noWatchers = (which: readonly ProcessEntry[]): Promise<unknown> =>
    until(
      () => which.filter(isAlive),
      (left) => left.length === 0,
      'the watchers to end',
    );

  /** A record of each node after the last of which something is known, made since then. */
  const ofBothNodes = (
    entries: readonly JournalEntry[],
    since = 0,
  ): Promise<readonly UtilisationRecord[]> =>
    until(
      () => {
        const told = recordsOf(entries.slice(since), 'utilisation');
        return ['n0', 'n1'].flatMap(
          (name) => told.findLast((record) => record.node === name) ?? [],
        );
      },
      (found) =>
        found.length === 2 && found.every(({ ranks }) => ranks[0]!.busy !== undefined),
      'a record of each node',
    );

  test('is recorded of each, with its ranks, also once they have resumed', async () => {
    const spec = slurmSpec({
      ...LONG,
      onFailure: 'restart',
      checkpointEvery: 20,
    });
    const entries = await node.queue('watched', spec, slurmSettings());
    const told = await ofBothNodes(entries);
    for (const [rank, { memory, processors, ranks, to }] of told.entries()) {
      expect(processors).toMatchObject({ count: expect.any(Number) as number });
      expect(processors!.busy).toBeGreaterThan(0);
      expect(memory!.used).toBeGreaterThan(0);
      expect(ranks).toHaveLength(1);
      expect(ranks[0]!.rank).toBe(rank);
      expect(ranks[0]!.busy).toBeGreaterThan(0);
      expect(ranks[0]!.memory).toBeGreaterThan(10 * 2 ** 20);
      expect(to).toBeGreaterThan(0);
    }
    // Process ids are those of the nodes, not of what has started them from here.
    const pids = [0, 1].map((rank) => processes(`gradwire-worker watched ${rank}`)[0]!);
    const started = await firstRecord(entries, 'started');
    expect(started.processes.map(({ pid }) => pid)).toEqual(pids.map(({ pid }) => pid));

    const first = await bothWatchers('watched');
    await firstRecord(entries, 'checkpoint');
    process.kill(pids[1]!.pid, 'SIGKILL');
    await firstRecord(entries, 'restarted');
    await ofBothNodes(
      entries,
      entries.findIndex(({ record }) => record.type === 'restarted'),
    );
    await noWatchers(first);
    const second = await bothWatchers('watched');

    await node.connection.request('stop', { run: 'watched' }, 60_000);
    expect(await endOf(entries)).toMatchObject({ type: 'done', reason: 'stopped' });
    await noJobs(slurm);
    await noWatchers(second);
    expect(unwatched(entries)).toEqual([]);
  });

  test(
    'costs a run nothing where a watcher fails, and it is said once',
    { tags: 'soak' },
    async () => {
      const entries = await node.queue('blind', slurmSpec(LONG), slurmSettings());
      const [one, other] = await bothWatchers('blind');
      const [, name] = /(n\d)$/.exec(one!.title)!;
      process.kill(one!.pid, 'SIGKILL');
      const [notice] = await until(
        () => unwatched(entries),
        (notices) => notices.length > 0,
        'the notice',
      );
      expect(notice).toMatchObject({
        level: 'info',
        message: expect.stringContaining(`what ${name!} does`) as string,
      });
      slurm.cancel((await firstRecord(entries, 'allocated')).job);
      expect(await endOf(entries)).toMatchObject({ error: { code: 'JOB_ENDED' } });
      await noJobs(slurm);
      await noWatchers([other!]);
      expect(unwatched(entries)).toHaveLength(1);
    },
  );

  test(
    'is watched by nobody once the supervisor is killed',
    { tags: 'soak' },
    async () => {
      const killed = await SupervisorNode.start(undefined, slurm.environment);
      try {
        await killed.queue('killed', slurmSpec(LONG), slurmSettings());
        const found = await bothWatchers('killed');
        await killed.kill();
        await noWatchers(found);
        for (const job of slurm.jobs().keys()) slurm.cancel(job);
        await noJobs(slurm);
      } finally {
        await killed[Symbol.asyncDispose]();
      }
    },
  );
});
