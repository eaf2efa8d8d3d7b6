/** What ends an allocation: a node that fails, a supervisor that is killed, time that is up. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SlurmCluster, slurmMissing } from '../harness/slurm.ts';
import {
  firstRecord,
  noJobs,
  recordsOf,
  slurmSettings,
  slurmSpec,
} from '../integration/slurm/slurm-runs.ts';
import { endOf, SupervisorNode } from '../integration/runs/supervisor-node.ts';

describe.skipIf(slurmMissing() !== undefined)('nodes that Slurm allots', () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await SlurmCluster.start();
  });
  afterAll(async () => {
    await slurm[Symbol.asyncDispose]();
  });
  const start = (environment: Record<string, string> = {}): Promise<SupervisorNode> =>
    SupervisorNode.start(undefined, { ...slurm.environment, ...environment });

  test('that fail are replaced: the run goes on from its checkpoint', async () => {
    await using node = await start();
    const spec = slurmSpec({
      iterations: 600,
      onFailure: 'restart',
      checkpointEvery: 50,
    });
    const entries = await node.queue('lost', spec, slurmSettings());
    await firstRecord(entries, 'checkpoint');
    slurm.ask('scontrol', 'update', 'nodename=n1', 'state=down', 'reason=test');
    await firstRecord(entries, 'interrupted');
    await slurm.resume('n1');
    expect(await endOf(entries)).toMatchObject({
      type: 'done',
      iterations: 600,
      consistent: true,
    });
    expect(recordsOf(entries, 'interrupted')[0]!.error).toMatchObject({
      code: 'JOB_LOST',
      message: expect.stringMatching(/has ended: NODE_FAIL/),
    });
    const jobs = recordsOf(entries, 'allocated').map(({ job }) => job);
    expect(new Set(jobs).size).toBe(2);
    expect(recordsOf(entries, 'iteration')).toHaveLength(2 * 600);
    await noJobs(slurm);
  });

  test('are kept when a rank is lost, and give it another place', async () => {
    await using node = await start();
    const spec = slurmSpec({
      iterations: 600,
      onFailure: 'restart',
      checkpointEvery: 50,
    });
    const entries = await node.queue('rank', spec, slurmSettings());
    await firstRecord(entries, 'checkpoint');
    // Its srun, which takes the rank along.
    process.kill(node.workers('rank')[0]!.pid, 'SIGKILL');
    expect(await endOf(entries)).toMatchObject({ type: 'done', iterations: 600 });
    expect(recordsOf(entries, 'interrupted')).toHaveLength(1);
    expect(recordsOf(entries, 'allocated')).toHaveLength(1);
    await noJobs(slurm);
  });

  test('are given back when the supervisor is killed', async () => {
    await using node = await start({ GRADWIRE_SLURM_PATIENCE_SECONDS: '3' });
    const spec = slurmSpec({ iterations: 1_000_000 });
    const entries = await node.queue('orphan', spec, slurmSettings());
    await firstRecord(entries, 'iteration');
    await node.kill();
    await noJobs(slurm);
  });

  test('are left with a checkpoint before their time is up, for others', async () => {
    await using node = await start({ GRADWIRE_SLURM_LEAD_SECONDS: '50' });
    const entries = await node.queue(
      'short',
      slurmSpec({
        iterations: 1200,
        onFailure: 'restart',
        checkpointEvery: 100_000,
        // However fast the machine is, they take longer than the ten seconds they get.
        workload: {
          model: 'synthetic-gradient',
          dataset: 'none',
          batchPerRank: 1,
          synthetic: { layers: [1000], computeMs: 15 },
        },
      }),
      slurmSettings({ time: '1' }),
    );
    expect(await endOf(entries)).toMatchObject({ type: 'done', iterations: 1200 });
    const interrupted = recordsOf(entries, 'interrupted');
    expect(interrupted.length).toBeGreaterThan(0);
    for (const { error } of interrupted) expect(error.code).toBe('ALLOCATION_ENDING');
    expect(recordsOf(entries, 'checkpoint')).toHaveLength(interrupted.length);
    expect(recordsOf(entries, 'iteration')).toHaveLength(2 * 1200);
    await noJobs(slurm);
  });

  test('are taken back at the end of their time: the run reports it and keeps its results', async () => {
    await using node = await start({ GRADWIRE_SLURM_LEAD_SECONDS: '50' });
    const spec = slurmSpec({ iterations: 1_000_000 });
    const entries = await node.queue('over', spec, slurmSettings({ time: '1' }));
    expect(await endOf(entries)).toMatchObject({
      error: { code: 'ALLOCATION_ENDING' },
    });
    await noJobs(slurm);
  });
});
