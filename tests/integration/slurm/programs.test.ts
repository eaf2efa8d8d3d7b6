/** Programs of one's own on nodes that Slurm allots, of a partition that Slurm hides: a real Slurm and a real sshd. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { SlurmCluster, slurmMissing } from '../../harness/slurm.ts';
import { SshServer } from '../../harness/sshd.ts';
import { joined } from '../pytorch/programs.ts';
import { noJobs } from './slurm-runs.ts';

const observed = path.join(import.meta.dirname, '../pytorch/small_training.py');

/** A file that no test before has brought to the cluster. */
const LARGE = Buffer.alloc(300_000, 'large');

describe.skipIf(slurmMissing() !== undefined)('a program on a Slurm cluster', () => {
  let slurm: SlurmCluster;
  let server: SshServer;
  let home: GradwireHome;
  /** Working directory of the programs, on this computer only. */
  let folder: string;

  beforeAll(async () => {
    slurm = await SlurmCluster.start();
    server = await SshServer.start({
      shellStart: `export SLURM_CONF=${slurm.environment.SLURM_CONF!}\n`,
    });
    home = new GradwireHome();
    folder = path.join(home.directory, 'program');
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'note.txt'), 'a note of this version\n');
    copyFileSync(joined, path.join(folder, 'joined.py'));
    const host = ['--host', '127.0.0.1', '--port', String(server.port)];
    const asked = ['--slurm', '--nodes', '2', '--partition', 'hidden'];
    const setup = ['--setup', 'export CLUSTER="of the cluster"'];
    const key = ['--identity', server.key];
    succeeded(
      await home.run(['nodes', 'add', 'hpc', ...host, ...key, ...asked, ...setup]),
    );
    const accept = ['--accept-host-key', server.fingerprint()];
    succeeded(await home.run(['nodes', 'check', 'hpc', ...accept]));
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await slurm?.[Symbol.asyncDispose]();
  });

  /** Lines of the shell, which the program consists of, on both nodes. */
  const start = (script: string, more: Readonly<Record<string, unknown>> = {}) => {
    const spec = {
      name: 'a program',
      workload: {
        command: ['sh', '-c', script],
        workdir: folder,
        setup: ['export SETUP="$CLUSTER, then of the program"'],
        env: { WORDS: 'two  words', OMP_NUM_THREADS: '1' },
        ...more,
      },
      world: { ranks: 2, nodes: ['hpc'] },
    };
    const file = path.join(folder, 'spec.json');
    writeFileSync(file, JSON.stringify(spec));
    return home.start(['run', file, '--json']);
  };
  /** Names of all files that programs have brought to the cluster. */
  const brought = (): readonly string[] =>
    readdirSync(path.join(server.home, '.gradwire'), { recursive: true })
      .map(String)
      .filter((name) => name.includes('/work/'))
      .toSorted();
  const linesOf = (records: readonly RunRecord[], word: string) =>
    ofType(records, 'log')
      .filter(({ text }) => text.startsWith(word))
      .map(({ rank, text }) => `${rank}: ${text}`)
      .toSorted();

  test.skipIf(pytorch === undefined)(
    'joins on both nodes, in a copy of its directory, with its setup and variables',
    async () => {
      const command = start(
        'echo "node $SLURMD_NODENAME, $SLURM_JOB_PARTITION"; echo "setup $SETUP"; ' +
          'echo "env $WORDS, $OMP_NUM_THREADS"; echo "file $(cat note.txt)"; ' +
          `echo "pwd $PWD"; exec ${pytorch} joined.py 6`,
      );
      succeeded(await command.finished);
      const { records } = command;
      expect(await command.record('done')).toMatchObject({
        iterations: 6,
        consistent: true,
      });
      const both = (text: string) => [`0: ${text}`, `1: ${text}`];
      expect(linesOf(records, 'node')).toEqual([
        '0: node n0, hidden',
        '1: node n1, hidden',
      ]);
      expect(linesOf(records, 'setup')).toEqual(
        both('setup of the cluster, then of the program'),
      );
      expect(linesOf(records, 'env')).toEqual(both('env two  words, 1'));
      expect(linesOf(records, 'file')).toEqual(both('file a note of this version'));
      for (const line of linesOf(records, 'pwd')) {
        expect(line.slice('0: pwd '.length)).toMatch(
          new RegExp(`^${server.home}/\\.gradwire/nodes/.+/work/trees/[0-9a-f]{64}$`),
        );
      }
      // Both have the same weights at the end.
      const digests = linesOf(records, 'digest').map((line) => line.slice(3));
      expect(digests).toHaveLength(2);
      expect(digests[1]).toBe(digests[0]);
      await noJobs(slurm);
    },
  );

  test.skipIf(pytorch === undefined)('is only observed', async () => {
    const out = path.join(home.directory, 'weights');
    const script = `exec ${pytorch} ${observed} ${out} --steps 4`;
    const command = start(script, { observe: true });
    succeeded(await command.finished);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations.map(({ rank }) => rank).toSorted()).toEqual([
      0, 0, 0, 0, 1, 1, 1, 1,
    ]);
    for (const { phases } of iterations) {
      expect(phases.forward).toBeGreaterThan(0);
      expect(phases.backward).toBeGreaterThan(0);
    }
    await noJobs(slurm);
  });

  test('that fails on a node is named, with its exit code and its last words', async () => {
    const command = start('echo begun; cat nothing.txt; exit 7');
    const { code, stderr } = await command.finished;
    expect(code).toBe(1);
    const { error } = await command.record('failed');
    const streamOf = (words: string) =>
      ofType(command.records, 'log').find(({ text }) => text.startsWith(words))?.stream;
    expect(streamOf('begun')).toBe('stdout');
    expect(streamOf('cat: nothing.txt')).toBe('stderr');
    expect(error).toMatchObject({ code: 'PROGRAM_FAILED', place: `n${error.rank!}` });
    expect(error.message).toMatch(/ exit code 7: cat: nothing\.txt: No such file/);
    expect(stderr).toContain('PROGRAM_FAILED: ');
    const log = await home.run(['runs', 'log', 'last', '--rank', String(error.rank!)]);
    expect(log.stdout).toMatch(/ begun$/m);
    expect(log.stdout).toMatch(/ cat: nothing\.txt: No such file or directory$/m);
    await noJobs(slurm);
  });

  test('asks for a partition that there is not: it is named, nothing is queued or brought', async () => {
    const edited = ['nodes', 'edit', 'hpc', '--partition', 'hidden,nowhere'];
    succeeded(await home.run(edited));
    const checked = await home.run(['nodes', 'check', 'hpc']);
    expect(checked.code).toBe(1);
    expect(checked.stdout).toMatch(
      /^error: SLURM_PARTITION_UNKNOWN: Slurm has no partition nowhere there/m,
    );
    expect(checked.stdout).not.toContain('hidden there');
    const before = brought();
    writeFileSync(path.join(folder, 'large.bin'), LARGE);
    const { code, stderr } = await start('true').finished;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^gradwire: SLURM_REFUSED: .*nowhere.*; .*edit hpc/m);
    expect(stderr).toContain('--nodes=2 --cpus-per-task=1 --partition=hidden,nowhere');
    expect([...slurm.jobs()]).toEqual([]);
    expect(brought()).toEqual(before);
  });

  test('asks for what Slurm only queues: its directory is brought, and it waits', async () => {
    const edited = ['nodes', 'edit', 'hpc', '--partition', 'hidden', '--nodes', '3'];
    succeeded(await home.run(edited));
    const command = start('true');
    await command.record('queued');
    const sha256 = createHash('sha256').update(LARGE).digest('hex');
    expect(brought().some((name) => name.includes(sha256))).toBe(true);
    // The job by which it was tested is gone, or about to be.
    await until(
      () => slurm.jobs().size,
      (jobs) => jobs === 1,
      'its job to be the only one',
    );
    command.child.kill('SIGINT');
    await command.finished;
    await noJobs(slurm);
  });
});
