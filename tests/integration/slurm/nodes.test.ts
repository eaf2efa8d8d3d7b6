/** What becomes of a run whose nodes Slurm allots, or does not: a real Slurm of two nodes. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cancellationScript } from '../../../src/agent/slurm/job-cancellation.ts';
import { processesWith, until } from '../../harness/processes.ts';
import { SlurmCluster, slurmMissing } from '../../harness/slurm.ts';
import {
  firstRecord,
  noJobs,
  recordsOf,
  slurmSettings,
  slurmSpec,
} from './slurm-runs.ts';
import { endOf, SupervisorNode } from '../runs/supervisor-node.ts';

const LONG = { iterations: 1_000_000 };

describe.skipIf(slurmMissing() !== undefined)('nodes that Slurm allots', () => {
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

  test('are waited for, with the reason, and the run begins by itself', async () => {
    const held = slurm.hold(2);
    const entries = await node.queue('waits', slurmSpec(), slurmSettings());
    await until(
      () => recordsOf(entries, 'queued').at(-1)?.reason,
      (reason) => reason === 'Resources' || reason === 'Priority',
      'the reason',
    );
    expect(recordsOf(entries, 'allocated')).toEqual([]);
    slurm.cancel(held);
    expect(await endOf(entries)).toMatchObject({ type: 'done', consistent: true });
    const [allocated] = recordsOf(entries, 'allocated');
    expect(allocated!.computeNodes).toEqual(['n0', 'n1']);
    // An hour, which is the partition's.
    expect(allocated!.until! - allocated!.at).toBeGreaterThan(3_000_000);
    await noJobs(slurm);
  });

  test('are no longer requested when the run is stopped', async () => {
    const held = slurm.hold(2);
    const entries = await node.queue('stopped', slurmSpec(LONG), slurmSettings());
    await node.connection.request('stop', { run: 'stopped' });
    expect(await endOf(entries)).toMatchObject({ error: { code: 'RUN_STOPPED' } });
    await until(
      () => [...slurm.jobs().keys()],
      (jobs) => jobs.length === 1 && jobs[0] === held,
      'its job to be cancelled',
    );
    slurm.cancel(held);
    await noJobs(slurm);
  });

  test('are taken away: the run reports it, and requests no others', async () => {
    const spec = slurmSpec({ ...LONG, onFailure: 'restart' });
    const entries = await node.queue('taken', spec, slurmSettings());
    await firstRecord(entries, 'iteration');
    const { job } = await firstRecord(entries, 'allocated');
    slurm.cancel(job);
    expect(await endOf(entries)).toMatchObject({
      type: 'failed',
      error: {
        code: 'JOB_ENDED',
        message: `Slurm job ${job} has ended: CANCELLED`,
      },
    });
    await noJobs(slurm);
  });

  test(
    'are released by a supervisor that is told to end',
    { tags: 'soak' },
    async () => {
      const ending = await SupervisorNode.start(undefined, slurm.environment);
      try {
        const running = await ending.queue('running', slurmSpec(LONG), slurmSettings());
        await firstRecord(running, 'iteration');
        const waiting = await ending.queue('waiting', slurmSpec(LONG), slurmSettings());
        process.kill(ending.connection.hello.pid, 'SIGTERM');
        for (const entries of [running, waiting]) {
          expect(await endOf(entries)).toMatchObject({
            error: { code: 'SUPERVISOR_STOPPED' },
          });
        }
        await noJobs(slurm);
      } finally {
        await ending[Symbol.asyncDispose]();
      }
    },
  );

  test(
    'are named when their ranks are all suspended and so report nothing',
    { tags: 'soak' },
    async () => {
      const spec = slurmSpec({ ...LONG, world: { ranks: 1 } });
      const entries = await node.queue('silent', spec, slurmSettings({ nodes: 1 }));
      await firstRecord(entries, 'iteration');
      const [name] = recordsOf(entries, 'allocated')[0]!.computeNodes;
      const ranks = processesWith(
        `SLURM_CONF=${slurm.environment.SLURM_CONF!}`,
        'gradwire-worker silent',
      );
      expect(ranks).toHaveLength(1);
      const all = (signal: NodeJS.Signals): void => {
        for (const { pid } of ranks) process.kill(pid, signal);
      };
      const notice = (code: string): Promise<unknown> =>
        until(
          () => recordsOf(entries, 'notice').find((record) => record.code === code),
          (record) => record !== undefined,
          code,
        );
      all('SIGSTOP');
      expect(await notice('RANKS_SILENT')).toMatchObject({
        level: 'warning',
        message: expect.stringMatching(
          new RegExp(`^rank 0 on ${name!} has reported nothing for \\d+ s`),
        ) as string,
      });
      all('SIGCONT');
      await notice('RANKS_HEARD');
      await node.connection.request('stop', { run: 'silent' }, 60_000);
      expect(await endOf(entries)).toMatchObject({ type: 'done', reason: 'stopped' });
      await noJobs(slurm);
    },
  );

  test('are refused in Slurm’s own words', async () => {
    const settings = slurmSettings({ partition: 'fast' });
    await expect(node.queue('refused', slurmSpec(), settings)).rejects.toMatchObject({
      code: 'SLURM_REFUSED',
      message: expect.stringMatching(/invalid partition/i),
    });
  });

  test(
    'are given back where they are more than a network can be emulated on',
    { tags: 'soak' },
    async () => {
      const spec = slurmSpec({ network: { bandwidth: '1 Gbit/s' } });
      await expect(node.queue('two', spec, slurmSettings())).rejects.toMatchObject({
        code: 'NETWORK_UNSUPPORTED',
        place: 'network',
      });
      // Two all the same, by an option of the user's own.
      // Slurm does not say the job's number then, and the name is not ours.
      const quiet = ['--quiet', '--job-name=mine', '--comment=billed'];
      const settings = slurmSettings({ nodes: 1, options: ['--nodes=2', ...quiet] });
      const entries = await node.queue('by-option', spec, settings);
      expect(await endOf(entries)).toMatchObject({
        error: { code: 'NETWORK_UNSUPPORTED' },
      });
      expect(recordsOf(entries, 'started')).toEqual([]);
      await noJobs(slurm);
    },
  );

  test('are not taken from another job of that number', async () => {
    const held = slurm.hold(1);
    const cancel = (name: string): void => {
      const mark = { id: held, name, token: name };
      const env = { ...process.env, ...slurm.environment };
      execFileSync('sh', ['-c', cancellationScript(mark, '/nonexistent')], { env });
    };
    cancel('gradwire');
    expect([...slurm.jobs().keys()]).toEqual([held]);
    cancel('wrap');
    await noJobs(slurm);
  });

  test('are not requested if they cannot hold all ranks', async () => {
    const settings = slurmSettings({ nodes: 1, ranksPerNode: 1 });
    await expect(node.queue('too-small', slurmSpec(), settings)).rejects.toMatchObject({
      code: 'SLURM_TOO_SMALL',
      message: '2 ranks at 1 per node need 2 nodes, not 1',
    });
  });
});
