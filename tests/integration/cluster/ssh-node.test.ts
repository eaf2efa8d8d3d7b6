/** The whole way to a machine that is reached by SSH: a real sshd on loopback. */
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { StartedRecord } from '../../../src/shared/records/started.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { SshServer } from '../../harness/sshd.ts';
import { newestRun } from '../cli/listed-runs.ts';

let server: SshServer;
let home: GradwireHome;
let commands: CommandHost;
/** Where the agent is brought to. */
let base: string;

beforeAll(async () => {
  server = await SshServer.start();
  home = new GradwireHome();
  commands = new CommandHost(home);
  base = path.join(server.home, '.gradwire');
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const nodes = (...args: string[]) => commands.run(['nodes', ...args]);

describe('a machine reached by SSH', () => {
  test('is added by name, and its unknown host key is refused', async () => {
    const port = String(server.port);
    const host = ['--host', '127.0.0.1', '--port', port, '--identity', server.key];
    const added = await nodes('add', 'box', ...host, '--label', 'loopback');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await nodes('check', 'box');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gradwire: HOST_KEY_UNKNOWN: /);
    expect(stderr).toContain(`--accept-host-key ${server.fingerprint()}`);
    // A password on stdin is no user who could be asked.
    const piped = await home.run(['nodes', 'check', 'box', '--password-stdin']);
    expect(piped).toMatchObject({
      code: 1,
      stderr,
    });
    expect(existsSync(base)).toBe(false);
  });

  test('is checked before anything is written there', async () => {
    const known = path.join(home.directory, 'known_hosts');
    writeFileSync(known, 'nonsense\n');
    const accept = ['--accept-host-key', server.fingerprint()];
    const { code, stdout, stderr } = await nodes('check', 'box', '--json', ...accept);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      system: 'Linux',
      libc: 'glibc',
      home: server.home,
      connection: { client: '127.0.0.1', server: '127.0.0.1' },
      missing: [],
      notices: [`${known}:1: not HOSTS TYPE KEY`],
    });
    const text = await nodes('check', 'box');
    expect(text.stdout).toContain(`\nnotice: ${known}:1: not HOSTS TYPE KEY\n`);
    expect(existsSync(base)).toBe(false);
  });

  test('is like this computer, which is checked as well', async () => {
    const { code, stdout } = await nodes('check', 'this-computer', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      hostname: os.hostname(),
      system: os.type(),
      home: home.directory,
      cores: os.availableParallelism(),
      node: process.version,
      missing: [],
    });
  });

  test(
    'is imported from another file than ~/.ssh/config, which is read again',
    { tags: 'soak' },
    async () => {
      const config = path.join(server.directory, 'config');
      const host = `HostName 127.0.0.1\nPort ${server.port}\nIdentityFile ${server.key}`;
      writeFileSync(config, `Host lab-1\n${host}\n`);
      const unknown = await nodes('import', '--config', config, 'lab-2');
      expect(unknown.stderr).toMatch(
        /^gradwire: HOST_UNKNOWN: .*Did you mean "lab-1"\?/,
      );
      expect((await nodes('import', '--config', config, 'lab-1')).code).toBe(0);
      const { code, stderr } = await nodes('check', 'lab-1');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect((await nodes('remove', 'lab-1')).code).toBe(0);
      // A name that a spec would read as a number.
      writeFileSync(config, `Host 0x2a\n${host}\n`);
      const number = await nodes('import', '--config', config, '0x2a');
      expect(number.code).toBe(2);
      expect(number.stderr).toMatch(
        /NODE_INVALID: "0x2a" .*nodes import 0x2a --as NAME/,
      );
      const several = await nodes('import', '--config', config, '--as', 'lab-3');
      expect(several).toMatchObject({ code: 2, stdout: '' });
      const renamed = await nodes(
        'import',
        '--config',
        config,
        '0x2a',
        '--as',
        'lab-3',
      );
      expect(renamed).toMatchObject({ code: 0, stdout: 'added lab-3\n' });
      succeeded(await nodes('check', 'lab-3'));
      succeeded(await nodes('remove', 'lab-3'));
    },
  );

  test('gets the agent once; nothing is left of the way', async () => {
    const cancelled = home.start(['nodes', 'deploy', 'box']);
    await until(
      () => cancelled.stderr,
      (said) => said.includes('uploading'),
      'the upload to begin',
    );
    cancelled.child.kill('SIGINT');
    expect(await cancelled.finished).toMatchObject({
      code: 130,
      stderr: expect.stringContaining('ABORTED: ') as string,
    });
    const first = await nodes('deploy', 'box');
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/uploaded in/),
    });
    const [agent] = readdirSync(path.join(base, 'agents'));
    // All of a package, sent before the upload was cancelled, could as well be one that another
    // upload is verifying: it is left for a day.
    const incoming = path.join(base, 'incoming');
    for (const name of readdirSync(incoming)) {
      const hash = createHash('sha256').update(readFileSync(path.join(incoming, name)));
      expect(name).toMatch(`agent-${hash.digest('hex')}.`);
    }
    const second = await nodes('deploy', 'box');
    expect(second.stdout).toMatch(`agent ${agent} was already there`);
  });

  test('trains two ranks beside two here, through a switch and a cut connection', async () => {
    const command = home.start([
      ...['run', 'quickstart', '--json', '--switch', '20:method=topk,ratio=0.01'],
      ...[
        'world.nodes=[this-computer, box]',
        'iterations=40',
        'timeoutSeconds=60',
      ].flatMap((setting) => ['--set', setting]),
    ]);
    await command.record('iteration', (record) => record.iteration === 5);
    // For longer than the first attempts: the run goes on, and so does the command.
    await server.stop();
    await until(
      () => command.stderr,
      (said) => said.includes('box cannot be reached'),
      'the command to miss box',
    );
    await server.start();
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^gradwire: box cannot be reached: SSH_\w+: .*\n$/),
    });
    const { records } = command;
    const iterations = records.filter((record) => record.type === 'iteration');
    const seen = (iterations as IterationRecord[]).map(
      ({ rank, iteration }) => `${rank}/${iteration}`,
    );
    expect(new Set(seen).size).toBe(4 * 40);
    expect(seen).toHaveLength(4 * 40);
    const [switched] = records.filter((record) => record.type === 'switch');
    expect(switched).toMatchObject({ fence: 20, to: { method: 'topk' } });
    const done = records.at(-1) as DoneRecord;
    expect(done).toMatchObject({ type: 'done', consistent: true, iterations: 40 });
    const places = records
      .filter((record) => record.type === 'started')
      .flatMap(({ processes }: StartedRecord) => processes)
      .toSorted((a, b) => a.rank - b.rank);
    expect(places.map(({ node }) => node === 'box')).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const shown = await home.run(['runs', 'show', 'last']);
    expect(shown.stdout).toContain('\nranks 0–1 on this computer, 2–3 on box\n');
    for (const { pid } of places) expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test('gets a copy of a program’s directory, and later only what has changed', async () => {
    const workdir = mkdtempSync(path.join(os.tmpdir(), 'gradwire-workdir-'));
    const programs = path.join(import.meta.dirname, '../programs');
    mkdirSync(path.join(workdir, 'src/__pycache__'), { recursive: true });
    for (const [from, to] of [
      ['scripted-program.ts', 'train.ts'],
      ['scripted-bridge.ts', 'scripted-bridge.ts'],
    ] as const) {
      copyFileSync(path.join(programs, from), path.join(workdir, 'src', to));
    }
    writeFileSync(path.join(workdir, 'src/__pycache__/x.pyc'), 'x');
    writeFileSync(path.join(workdir, 'words.txt'), 'first words\n');
    symlinkSync('words.txt', path.join(workdir, 'link'));
    const line = (iterations: number): string =>
      `echo "in $PWD: $(cat link)"; ls -R; echo made >> words.txt; exec ${process.execPath} src/train.ts ${iterations}`;
    const options = (directory: string, iterations: number): string[] => [
      ...['exec', '--json', '--ranks', '1', '--nodes', 'box'],
      ...['--set', `workload.workdir=${directory}`, '--', 'sh', '-c', line(iterations)],
    ];
    const exec = (directory: string) => home.run(options(directory, 5));
    const launch = async (): Promise<string> => succeeded(await exec(workdir)).stdout;
    const work = path.join(base, 'nodes', os.hostname(), 'work');
    const contents = (): string[] => readdirSync(path.join(work, 'files'));
    try {
      const first = await launch();
      expect(first).toContain(`in ${work}/trees/`);
      expect(first).toContain(': first words');
      expect(first).not.toContain('__pycache__');
      expect(contents()).toHaveLength(3);
      writeFileSync(path.join(workdir, 'words.txt'), 'other words\n');
      expect(await launch()).toContain(': other words');
      expect(contents()).toHaveLength(4);
      expect(readdirSync(path.join(work, 'trees'))).toHaveLength(2);

      // A copy that has ended is no longer cancelled in place of its run.
      writeFileSync(path.join(workdir, 'words.txt'), 'last words\n');
      const goingOn = home.start(options(workdir, 1_000_000_000));
      await goingOn.record('iteration');
      goingOn.child.kill('SIGINT');
      expect(await goingOn.finished).toMatchObject({ code: 130 });
      expect(goingOn.records.at(-1)).toMatchObject({ type: 'done', reason: 'stopped' });

      // Whether it is still being copied or has begun: it is stopped, not failed.
      writeFileSync(path.join(workdir, 'large'), randomBytes(64e6));
      const copied = home.start(options(workdir, 1_000_000_000));
      const isCopied = (text: string) => text.includes('uploading the workdir');
      await until(() => copied.stderr, isCopied, 'the copy');
      copied.child.kill('SIGINT');
      expect(await copied.finished).toMatchObject({ code: 130 });
      expect(await newestRun(commands)).toMatchObject({ state: 'stopped' });

      expect(await exec('/not/there')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/WORKDIR_MISSING.*workload\.copy/) as string,
      });
    } finally {
      rmSync(workdir, { recursive: true });
    }
  });

  test('has a log that can be read', { tags: 'soak' }, async () => {
    const log = path.join(base, 'nodes', os.hostname(), 'supervisor.log');
    writeFileSync(log, 'first\nsecond\nthird\n');
    const read = await nodes('log', 'box', '--lines', '2');
    expect(read).toMatchObject({ code: 0, stdout: 'second\nthird\n', stderr: '' });
    writeFileSync(log, '');
    expect(await nodes('log', 'box')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^the log of box is empty: /) as string,
    });
    expect((await nodes('log', 'box', '--lines', 'all')).code).toBe(2);
    expect((await nodes('log', 'bix')).stderr).toMatch(/NODE_UNKNOWN.*"box"/);
  });

  test(
    'that is removed by force takes its runs along, on every machine',
    { tags: 'soak' },
    async () => {
      const command = home.startQuickstart([
        ...['world.nodes=[this-computer, box]', 'world.ranks=2', 'iterations=1000000'],
      ]);
      const { processes } = await command.record('started');
      await command.record('iteration');
      expect((await nodes('remove', 'box')).stderr).toMatch(/NODE_IN_USE.*--force/);
      const removed = await nodes('remove', 'box', '--force');
      expect(removed).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^run \w+: failed\nremoved box\n$/),
      });
      const { code, stderr } = await command.finished;
      expect({ code, stderr }).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('NODE_REMOVED'),
      });
      for (const { pid } of processes) {
        await until(
          () => existsSync(`/proc/${pid}`),
          (there) => !there,
          'the ranks to end',
        );
      }
      const again = ['--host', '127.0.0.1', '--port', String(server.port)];
      const added = await nodes('add', 'box', ...again, '--identity', server.key);
      expect(added.code).toBe(0);
    },
  );

  test(
    'shows and stops whatever runs there, whoever started it',
    { tags: 'soak' },
    async () => {
      await using other = new GradwireHome();
      const host = ['--host', '127.0.0.1', '--port', String(server.port)];
      const add = ['nodes', 'add', 'box', ...host, '--identity', server.key];
      succeeded(await other.run(add));
      const accept = ['--accept-host-key', server.fingerprint()];
      succeeded(await other.run(['nodes', 'check', 'box', ...accept]));
      const launched = await home.run([
        ...['run', 'quickstart', '--detach', '--set', 'world.nodes=[box]'],
        ...['--set', 'world.ranks=2', '--set', 'iterations=1000000'],
      ]);
      const id = launched.stdout.trim();

      const own = await home.run(['runs', 'list']);
      expect(own.stdout).toMatch(new RegExp(`${id} .* 2 +box `));

      // On a computer that did not start it.
      const found = { id, ranks: [0, 1], worldRanks: 2, here: 'unknown' };
      for (const command of [['list'], ['check', 'box']]) {
        const { stdout } = await other.run(['nodes', ...command, '--json']);
        expect(JSON.parse(stdout)).toMatchObject({ found: [found] });
      }
      const stop = `gradwire runs stop ${id} --on box`;
      const listed = await other.run(['nodes', 'list']);
      expect(listed.stdout).toMatch(
        new RegExp(`2 ranks, .* old, started elsewhere.*${stop}`),
      );
      expect((await other.run(['nodes', 'uninstall', 'box'])).stderr).toContain(
        `Stop it first: ${stop}.`,
      );
      const wrong = await other.run(['runs', 'stop', 'zzz', '--on', 'box']);
      expect(wrong.stderr).toMatch(
        `RUN_UNKNOWN: no run "zzz" is in progress there (box)`,
      );

      // Given up while its machine was out of reach: its record is corrected.
      await server.stop();
      expect((await home.run(['runs', 'list'])).stderr).toMatch(
        /^gradwire: box was not reached: .*nodes check box\.$/m,
      );
      const removed = await nodes('remove', 'box', '--force');
      expect(removed.stdout).toContain(
        `run ${id}: failed; its ranks on box may still run`,
      );
      await server.start();
      succeeded(await home.run(add));
      const [line] = (await nodes('list', '--json')).stdout.split('\n');
      expect(JSON.parse(line!)).toMatchObject({ runs: [id], found: [] });

      expect(
        await other.run(['runs', 'stop', id.slice(0, 6), '--on', 'box']),
      ).toMatchObject({
        code: 0,
        stderr: '',
        stdout: `run ${id}: stopped on box\n`,
      });
      succeeded(await home.run(['runs', 'attach', id]));
      const [run] = (await home.run(['runs', 'list', '--json'])).stdout.split('\n');
      expect(JSON.parse(run!)).toMatchObject({ id, state: 'stopped' });
    },
  );

  test('is left as it was', async () => {
    const { code, stdout, stderr } = await nodes('uninstall', 'box');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe('box: everything was removed\n');
    await until(
      () => existsSync(base),
      (there) => !there,
      'the agent to be removed',
    );
    succeeded(await nodes('remove', 'box'));
    expect((await nodes('list', '--json')).stdout).toBe('');
    const known = readFileSync(path.join(home.directory, 'known_hosts'), 'utf8');
    expect(known).toContain(server.hostKey());
  });
});
