/** Runs on nodes that Slurm allots: a real Slurm, whose login node is reached by SSH. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  AllocatedRecord,
  DoneRecord,
  StartedRecord,
} from '../../../src/shared/records.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { SlurmCluster, slurmMissing } from '../../harness/slurm.ts';
import { SshServer } from '../../harness/sshd.ts';

describe.skipIf(slurmMissing() !== undefined)('a Slurm cluster', () => {
  let slurm: SlurmCluster;
  let server: SshServer;
  let home: GradwireHome;

  beforeAll(async () => {
    slurm = await SlurmCluster.start();
    server = await SshServer.start({
      shellStart: `export SLURM_CONF=${slurm.environment.SLURM_CONF!}\n`,
    });
    home = new GradwireHome();
    await add('hpc', '--nodes', '2', '--setup', 'echo printed; export LOADED=1');
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await slurm[Symbol.asyncDispose]();
  });

  const add = async (name: string, ...slurmOptions: string[]): Promise<void> => {
    const host = ['--host', '127.0.0.1', '--port', String(server.port)];
    const key = ['--identity', server.key];
    const added = await home.run([
      ...['nodes', 'add', name, ...host, ...key, '--slurm', ...slurmOptions],
    ]);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const accept = ['--accept-host-key', server.fingerprint()];
    expect(await home.run(['nodes', 'check', name, ...accept])).toMatchObject({
      code: 0,
    });
  };

  test('trains a run over two of its nodes, and gives them back', async () => {
    const command = home.startQuickstart(['world.nodes=[hpc]', 'iterations=40']);
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { records } = command;
    expect(records.map(({ type }) => type).slice(0, 1)).toEqual(['queued']);
    const allocated = records.find(
      (record): record is AllocatedRecord => record.type === 'allocated',
    );
    expect(allocated).toMatchObject({ node: 'hpc', computeNodes: ['n0', 'n1'] });
    const started = records.find(
      (record): record is StartedRecord => record.type === 'started',
    );
    expect(started!.processes.map(({ rank, node }) => [rank, node])).toEqual([
      [0, 'n0'],
      [1, 'n0'],
      [2, 'n1'],
      [3, 'n1'],
    ]);
    expect(records.at(-1) as DoneRecord).toMatchObject({
      ...{ type: 'done', consistent: true, iterations: 40 },
    });
    await until(
      () => [...slurm.jobs()],
      (left) => left.length === 0,
      'the job to end',
    );
  });
});
