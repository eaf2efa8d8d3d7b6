/** Runs on nodes that Slurm allots: a real Slurm, whose login node is reached by SSH. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until, untilAsync } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
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

  test('that cannot be reached is no machine for runs', { tags: 'soak' }, async () => {
    const conf = path.join(slurm.directory, 'elsewhere.conf');
    // Its controller would listen where nothing does.
    const text = readFileSync(slurm.environment.SLURM_CONF!, 'utf8');
    writeFileSync(conf, text.replace(/^SlurmctldPort=.*$/m, 'SlurmctldPort=1'));
    await using machine = await SshServer.start({
      shellStart: `export SLURM_CONF=${conf}\n`,
    });
    const host = ['--host', '127.0.0.1', '--port', String(machine.port)];
    const key = ['--identity', machine.key, '--slurm'];
    succeeded(await home.run(['nodes', 'add', 'silent', ...host, ...key]));
    const accept = ['--accept-host-key', machine.fingerprint()];
    const { code, stdout } = await home.run(['nodes', 'check', 'silent', ...accept]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^error: SLURM_SILENT: .*Unable to contact .*sinfo works/m);
    expect(stdout).not.toContain('ready for runs');
  });

  test('trains a run over two of its nodes, and gives them back', async () => {
    const command = home.startQuickstart(['world.nodes=[hpc]', 'iterations=40']);
    const { code, stderr } = await command.finished;
    // The first run there brings the agent, and says so.
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^hpc: uploading the agent .*\n(hpc: .*\n)*$/,
      ) as string,
    });
    const { records } = command;
    expect(records.map(({ type }) => type).slice(0, 1)).toEqual(['queued']);
    const allocated = ofType(records, 'allocated')[0];
    expect(allocated).toMatchObject({ node: 'hpc', computeNodes: ['n0', 'n1'] });
    const started = ofType(records, 'started')[0];
    expect(started!.processes.map(({ rank, node }) => [rank, node])).toEqual([
      [0, 'n0'],
      [1, 'n0'],
      [2, 'n1'],
      [3, 'n1'],
    ]);
    expect(records.at(-1) as DoneRecord).toMatchObject({
      type: 'done',
      consistent: true,
      iterations: 40,
    });
    await until(
      () => [...slurm.jobs()],
      (left) => left.length === 0,
      'the job to end',
    );
  });

  test(
    'shows the queue position of a run that waits without an app, and forgets it when it is stopped',
    { tags: 'soak' },
    async () => {
      const held = slurm.hold(2);
      const set = ['--set', 'world.nodes=[hpc]'];
      const launched = await home.run(['run', 'quickstart', '--detach', ...set]);
      expect(launched).toMatchObject({ code: 0, stderr: '' });
      const id = launched.stdout.trim();
      const queued = await untilAsync(
        async () => (await home.run(['runs', 'list'])).stdout,
        (list) => /queued \(job \d+, (Resources|Priority)/.test(list),
        'the reason',
      );
      expect(queued).toContain(id);
      const shown = await home.run(['runs', 'show', id]);
      expect(shown.stdout).toMatch(/\nqueued \(job \d+, .*\), 0 of \d+ iterations/);
      succeeded(await home.run(['runs', 'stop', id]));
      expect((await home.run(['runs', 'show', id])).stdout).toContain('RUN_STOPPED');
      await until(
        () => [...slurm.jobs().keys()],
        (left) => left.length === 1,
        'its job to be cancelled',
      );
      slurm.cancel(held);
    },
  );

  test(
    'emulates a network on one of its nodes, whose ranks see all of its GPUs',
    { tags: 'soak' },
    async () => {
      await add(
        'gpus',
        ...['--gpus-per-node', '2', '--setup', 'echo "gpus $CUDA_VISIBLE_DEVICES"'],
      );
      const command = home.startQuickstart([
        ...['world.nodes=[gpus]', 'world.ranks=2', 'iterations=20'],
        ...['network.bandwidth=1 Gbit/s', 'network.latency=50 µs'],
      ]);
      const { code, stderr } = await command.finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { records } = command;
      expect(records.find(({ type }) => type === 'started')).toMatchObject({
        emulated: { bandwidth: 1e9 },
      });
      const printed = records.filter((record) => record.type === 'log');
      expect(printed.map(({ rank, text }) => [rank, text])).toEqual(
        expect.arrayContaining([
          [0, 'gpus 0,1'],
          [1, 'gpus 0,1'],
        ]),
      );
      expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
    },
  );

  const misfits = [
    [['network.bandwidth=1 Gbit/s'], 'NETWORK_UNSUPPORTED', 'network'],
    [['world.nodes=[this-computer, hpc]'], 'SLURM_NOT_ALONE', 'world.nodes'],
    [['world.nodes=[tight]'], 'SLURM_TOO_SMALL', 'world.ranks'],
  ] as const;
  test.each(misfits.slice(0, effort({ quick: 1, soak: 3 })))(
    '%j is refused before anything is queued',
    async (settings, error, place) => {
      if (settings[0]!.includes('tight')) {
        await add('tight', '--nodes', '1', '--ranks-per-node', '2');
      }
      const listed = (await home.run(['runs', 'list', '--json'])).stdout;
      const set = ['world.nodes=[hpc]', ...settings].flatMap((one) => ['--set', one]);
      const { code, stderr } = await home.run(['run', 'quickstart', ...set]);
      expect(code).toBe(2);
      expect(stderr).toMatch(new RegExp(`^gradwire: ${error}: .* \\(${place}\\)\\. `));
      expect((await home.run(['runs', 'list', '--json'])).stdout).toBe(listed);
      expect([...slurm.jobs()]).toEqual([]);
    },
  );
});
