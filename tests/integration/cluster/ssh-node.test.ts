/** The whole way to a machine that is reached by SSH: a real sshd on loopback. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  DoneRecord,
  IterationRecord,
  StartedRecord,
} from '../../../src/shared/records.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { SshServer } from '../../harness/sshd.ts';
import { until } from '../../harness/processes.ts';

let server: SshServer;
let home: GradwireHome;
/** Where the agent is brought to. */
let base: string;

beforeAll(async () => {
  server = await SshServer.start();
  home = new GradwireHome();
  base = path.join(server.home, '.gradwire');
});
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const nodes = (...args: string[]) => home.run(['nodes', ...args]);

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
    expect(existsSync(base)).toBe(false);
  });

  test('is checked before anything is written there', async () => {
    const accept = ['--accept-host-key', server.fingerprint()];
    const { code, stdout, stderr } = await nodes('check', 'box', '--json', ...accept);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      system: 'Linux',
      libc: 'glibc',
      home: server.home,
      connection: { client: '127.0.0.1', server: '127.0.0.1' },
      missing: [],
    });
    expect(existsSync(base)).toBe(false);
  });

  test('is imported from another file than ~/.ssh/config, which is read again', async () => {
    const config = path.join(server.directory, 'config');
    const host = `HostName 127.0.0.1\nPort ${server.port}\nIdentityFile ${server.key}`;
    writeFileSync(config, `Host lab-1\n${host}\n`);
    const unknown = await nodes('import', '--config', config, 'lab-2');
    expect(unknown.stderr).toMatch(/^gradwire: HOST_UNKNOWN: .*Did you mean "lab-1"\?/);
    expect((await nodes('import', '--config', config, 'lab-1')).code).toBe(0);
    const { code, stderr } = await nodes('check', 'lab-1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect((await nodes('remove', 'lab-1')).code).toBe(0);
  });

  test('gets the agent once; nothing is left of the way', async () => {
    const first = await nodes('deploy', 'box');
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/uploaded in/),
    });
    const [agent] = readdirSync(path.join(base, 'agents'));
    expect(readdirSync(path.join(base, 'incoming'))).toEqual([]);
    const second = await nodes('deploy', 'box');
    expect(second.stdout).toMatch(`agent ${agent} was already there`);
  });

  test('trains two ranks beside two here, through a switch and a cut connection', async () => {
    const command = home.start([
      ...['run', 'quickstart', '--json', '--switch', '60:method=topk,ratio=0.01'],
      ...[
        'world.nodes=[this-computer, box]',
        'iterations=100',
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
    expect(new Set(seen).size).toBe(4 * 100);
    expect(seen).toHaveLength(4 * 100);
    const [switched] = records.filter((record) => record.type === 'switch');
    expect(switched).toMatchObject({ fence: 60, to: { method: 'topk' } });
    const done = records.at(-1) as DoneRecord;
    expect(done).toMatchObject({ type: 'done', consistent: true, iterations: 100 });
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
    expect(shown.stdout).toContain(`\nranks 0–1 on ${os.hostname()}, 2–3 on box\n`);
    for (const { pid } of places) expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test('that is removed by force takes its runs along, on every machine', async () => {
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
  });

  test.each([
    [['--host=-oProxyCommand=x'], 'SSH_TARGET_INVALID: "-oProxyCommand=x"'],
    [['--host', 'a b'], '"a b" is not a host name (--host)'],
    [['--host', 'h', '--port', '22abc'], '22abc is not a port (--host, --port)'],
    [['--host', 'h', '--port', '70000'], 'SSH_TARGET_INVALID'],
    [['--host', 'h', '--jump', 'j;x'], '"j;x" is not a host name (--jump)'],
    [['--host', ''], 'NODE_INVALID: "" is not valid: '],
    [
      ['--host', 'h', '--slurm', '--time', 'soon'],
      'days-hours:minutes:seconds (--time)',
    ],
  ])('is not added as %j', async (options, code) => {
    const { code: exit, stderr } = await nodes('add', 'odd', ...options);
    expect(exit).toBe(2);
    expect(stderr).toContain(code);
  });

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
