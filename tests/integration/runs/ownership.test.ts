/**
 * A home's runs have one owner at a time. Two hosts share a home as over NFS: namespaces with
 * host names of their own, and a socket that leads nowhere on the second, since a Unix socket
 * does not cross machines. Linux, root.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import {
  builtCommand,
  GradwireHome,
  succeeded,
  type Finished,
} from '../../harness/gradwire.ts';
import { LASTING_ALONE, LASTING_SPEC } from '../../harness/lasting-runs.ts';
import { isAlive, until } from '../../harness/processes.ts';
import { sampleSpec } from '../../unit/main/sample-records.ts';
import { endOf, SupervisorNode } from './supervisor-node.ts';

const ENDLESS = [
  ...['run', 'quickstart', '--detach', '--set', 'evaluateEvery=0'],
  ...LASTING_ALONE.flatMap((setting) => ['--set', setting]),
];

/** What a shell does to be on another host, where the home's socket leads nowhere. */
const elsewhere = (home: GradwireHome): string =>
  `exec unshare --mount --uts bash -c 'hostname login2 && mount --bind ` +
  `"${deadSocket(home)}" "${home.socket}" && exec "$@"' bash "$@"`;

/** A socket whose listener has died. */
function deadSocket(home: GradwireHome): string {
  return path.join(home.directory, 'dead.sock');
}

async function makeDeadSocket(home: GradwireHome): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(deadSocket(home))}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script]), 'exit');
}

describe('a home on two hosts', () => {
  const home = new GradwireHome();
  afterAll(() => home[Symbol.asyncDispose]());
  const onSecond = async (args: readonly string[]): Promise<Finished> =>
    await home.start(args, { shell: elsewhere(home) }).finished;

  it('leaves a run to the host that has it, whatever the other does', async () => {
    const { stdout } = succeeded(await home.run(ENDLESS));
    const run = stdout.trim();
    await makeDeadSocket(home);
    const folder = path.join(home.directory, 'runs', run);
    const [supervisor] = home.supervisors();
    const [worker] = home.processes('gradwire worker');
    const size = statSync(path.join(folder, 'journal.gwj')).size;

    const list = await onSecond(['runs', 'list', '--json']);
    expect(JSON.parse(list.stdout)).toMatchObject({
      id: run,
      state: expect.stringMatching(/starting|running/) as string,
    });
    expect(list.stderr).toContain('HOME_HELD_ELSEWHERE');
    const stop = await onSecond(['runs', 'stop', run]);
    expect(stop).toMatchObject({ code: 1 });
    expect(stop.stderr).toMatch(
      new RegExp(`HOME_HELD_ELSEWHERE: .* process ${supervisor!.pid} on `),
    );
    expect(stop.stderr).toContain(path.join(home.directory, 'supervisor.lock'));
    const launch = await onSecond(ENDLESS);
    expect(launch.code).toBe(1);
    expect(launch.stderr).toContain('HOME_HELD_ELSEWHERE');

    expect([isAlive(supervisor!), isAlive(worker!)]).toEqual([true, true]);
    expect(home.supervisors()).toHaveLength(1);
    expect(existsSync(home.socket)).toBe(true);
    expect(statSync(path.join(folder, 'journal.gwj')).size).toBeGreaterThan(size);
    const stopped = succeeded(await home.run(['runs', 'stop', run]));
    expect(stopped.stdout).toMatch(/stopped after \d+ iterations/);
  });

  it(
    'takes a home over from a host once the user has removed its lock',
    { tags: 'soak' },
    async () => {
      const lock = path.join(home.directory, 'supervisor.lock');
      const gone = { token: '0'.repeat(32), host: 'login9', boot: 'b', pid: 1 };
      writeFileSync(lock, JSON.stringify(gone));
      const args = [
        'run',
        'quickstart',
        '--set',
        'iterations=2',
        '--set',
        'world.ranks=1',
      ];
      const refused = await home.run(args);
      expect(refused.stderr).toContain('HOME_HELD_ELSEWHERE');
      expect(refused.stderr).toContain('login9');
      rmSync(lock);
      succeeded(await home.run(args));
    },
  );
});

describe('a supervisor whose socket is gone', () => {
  const home = new GradwireHome();
  afterAll(() => home[Symbol.asyncDispose]());

  /** With `onFailure: restart` a second supervisor would start the run a second time. */
  it('is found again, and keeps its run', async () => {
    const detached = [...ENDLESS, '--set', 'onFailure=restart'];
    const run = succeeded(await home.run(detached)).stdout.trim();
    const supervisors = home.supervisors();
    const workers = home.processes('gradwire worker');
    await makeDeadSocket(home);
    const lock = path.join(home.directory, 'supervisor.lock');
    for (const spoil of [
      () => {
        rmSync(home.socket);
      },
      () => {
        renameSync(deadSocket(home), home.socket);
      },
      async () => {
        rmSync(lock);
        rmSync(home.socket);
        writeFileSync(home.socket, '');
        // Until it has noticed, another supervisor may take the home, since nothing holds it.
        await until(
          () => existsSync(lock) && lstatSync(home.socket, { throwIfNoEntry: false }),
          (found) => found !== false && found?.isSocket() === true,
          'its lock and its socket to be back',
        );
      },
    ]) {
      await spoil();
      const list = succeeded(await home.run(['runs', 'list', '--json']));
      expect(list.stderr).not.toContain('HOME_');
      expect(JSON.parse(list.stdout)).toMatchObject({ id: run, state: 'running' });
      // The command may have started one, which ends when it finds the other.
      await until(
        () => home.supervisors(),
        (found) => found.length === 1,
        'a second supervisor to end',
      );
      expect(home.supervisors()).toEqual(supervisors);
      expect(home.processes('gradwire worker')).toEqual(workers);
    }
    const { stdout } = succeeded(await home.run(['runs', 'stop', run]));
    expect(stdout).toContain('stopped');
  });

  const suspended = { tags: 'soak' };
  it('is named if it is suspended and cannot listen again', suspended, async () => {
    const run = succeeded(await home.run(ENDLESS)).stdout.trim();
    const [supervisor] = home.supervisors();
    process.kill(supervisor!.pid, 'SIGSTOP');
    try {
      rmSync(home.socket);
      const { code, stderr } = await home.run(['runs', 'stop', run]);
      expect(code).toBe(1);
      expect(stderr).toContain('SUPERVISOR_UNREACHABLE');
      expect(stderr).toContain(`kill -CONT ${supervisor!.pid}`);
    } finally {
      process.kill(supervisor!.pid, 'SIGCONT');
    }
    succeeded(await home.run(['runs', 'stop', run]));
  });
});

it('a base on a machine is made private, and refused if it is not the user’s', async () => {
  await using home = new GradwireHome();
  const base = path.join(home.directory, 'base');
  mkdirSync(base);
  chmodSync(base, 0o777);
  const attach = path.join(path.dirname(builtCommand), '../agent/attach.js');
  const find = () =>
    spawnSync(
      process.execPath,
      [attach, '--base', base, '--agent', 'a', '--marker', 'm', '--find'],
      { encoding: 'utf8' },
    );
  expect(find()).toMatchObject({
    status: 3,
    stderr: expect.stringContaining(base) as string,
  });
  expect(statSync(base).mode & 0o777).toBe(0o700);
  chownSync(base, 12_345, 12_345);
  const { status, stderr } = find();
  expect(status).toBe(4);
  expect(JSON.parse(stderr)).toMatchObject({ code: 'HOME_UNUSABLE' });
});

it(
  'a home of any length has one socket, whatever the environment',
  { tags: 'soak' },
  async () => {
    await using home = new GradwireHome();
    const long = path.join(home.directory, 'h'.repeat(120));
    mkdirSync(long, { mode: 0o700 });
    const inLong = async (
      args: readonly string[],
      environment: Readonly<Record<string, string>>,
    ): Promise<Finished> => {
      const env = { ...process.env, ...environment, GRADWIRE_HOME: long };
      const child = spawn(process.execPath, [builtCommand, ...args], { env });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      const [code, signal] = (await once(child, 'close')) as [
        number | null,
        NodeJS.Signals | null,
      ];
      return { code, signal, stdout, stderr };
    };
    const run = succeeded(await inLong(ENDLESS, { TMPDIR: '/tmp' })).stdout.trim();
    try {
      const { stdout } = succeeded(
        await inLong(['runs', 'stop', run], { TMPDIR: home.directory }),
      );
      expect(stdout).toContain('stopped');
    } finally {
      await until(
        () => readdirSync(long),
        (names) => !names.includes('supervisor.lock'),
        'the supervisor to end',
      );
    }
  },
);

describe('a supervisor whose home was removed', () => {
  it(
    'ends its run, tells who follows it, and ends itself',
    { tags: 'soak' },
    async () => {
      await using node = await SupervisorNode.start();
      const { home } = node;
      const spec = sampleSpec({ world: { ranks: 2 }, ...LASTING_SPEC });
      const entries = await node.launch('orphan', spec);
      // As a test that is killed does, or a user who tidies up.
      rmSync(home.directory, { recursive: true, force: true });
      expect(await endOf(entries)).toMatchObject({
        type: 'failed',
        error: {
          code: 'HOME_GONE',
          message: expect.stringContaining(home.directory) as string,
        },
      });
      await until(
        () => home.processes('gradwire'),
        (left) => left.length === 0,
        'the supervisor and its ranks to end',
      );
    },
  );

  it('is no matter of a moment', { tags: 'soak' }, async () => {
    await using home = new GradwireHome();
    const run = succeeded(await home.run(ENDLESS)).stdout.trim();
    const away = `${home.directory}.away`;
    renameSync(home.directory, away);
    await pause(5000);
    renameSync(away, home.directory);
    const stopped = succeeded(await home.run(['runs', 'stop', run]));
    expect(stopped.stdout).toMatch(/stopped after \d+ iterations/);
  });
});
