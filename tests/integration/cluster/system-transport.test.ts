/**
 * The whole way to a machine that only the system's `ssh` reaches: through a ProxyCommand,
 * with a user certificate.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteNode } from '../../../src/main/cluster/remote-node.ts';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import type { DoneRecord } from '../../../src/shared/records/done.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer, testUser } from '../../harness/sshd.ts';

let server: SshServer;
let home: GradwireHome;
let configFile: string;
let key: string;

beforeAll(async () => {
  home = new GradwireHome();
  const authority = makeKey(path.join(home.directory, 'user_ca'));
  server = await SshServer.start({
    config: [`TrustedUserCAKeys ${authority}.pub`],
    shellStart: `export PATH=${path.dirname(process.execPath)}:$PATH\n`,
  });
  key = makeKey(path.join(server.directory, 'id_certified'));
  const sign = ['-q', '-s', authority, '-I', 'test', '-n', testUser];
  execFileSync('ssh-keygen', [...sign, `${key}.pub`]);
  const known = path.join(server.directory, 'known_alias');
  writeFileSync(known, `the-box ${server.hostKey()}\n`);
  configFile = path.join(server.directory, 'config');
  const bridge = path.join(server.directory, 'bridge.cjs');
  writeFileSync(
    bridge,
    `const socket = require('node:net').connect(${server.port}, '127.0.0.1');
     process.stdin.pipe(socket).pipe(process.stdout);
     socket.on('close', () => process.exit());`,
  );
  const lines = [
    ...['Host box', 'HostName nowhere.invalid', 'HostKeyAlias the-box'],
    ...[`IdentityFile ${key}`, 'IdentityAgent none', `UserKnownHostsFile ${known}`],
    `ProxyCommand ${process.execPath} ${bridge}`,
  ];
  writeFileSync(configFile, lines.join('\n'));
});
afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

test(
  'trains there, through a cut connection, and leaves nothing',
  { tags: 'soak' },
  async () => {
    const imported = await home.run(['nodes', 'import', '--config', configFile, 'box']);
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    const checked = await home.run(['nodes', 'check', 'box']);
    expect(checked).toMatchObject({ code: 0, stderr: '' });
    expect(checked.stdout).toContain('reached through the system’s ssh (ProxyCommand ');

    const run = home.startQuickstart([
      ...['world.nodes=[box]', 'world.ranks=2', 'iterations=60', 'evaluateEvery=0'],
    ]);
    await run.record('iteration', (record) => record.iteration === 5);
    await server.cutSessions();
    succeeded(await run.finished);
    const iterations = run.records.filter((record) => record.type === 'iteration');
    expect(iterations).toHaveLength(2 * 60);
    const done = run.records.at(-1) as DoneRecord;
    expect(done).toMatchObject({ type: 'done', consistent: true });

    succeeded(await home.run(['nodes', 'uninstall', 'box']));
    expect(existsSync(path.join(server.home, '.gradwire'))).toBe(false);
  },
);

test(
  'has a terminal, and a supervisor whose loss is told',
  { tags: 'soak' },
  async () => {
    // Where the agent has been packed already.
    const own = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
    await using pool = new SshPool({ directory: own.directory });
    const entry = parseNodeEntry({ name: 'box', destination: 'box', configFile });
    const node = new RemoteNode(entry, { home: own, pool });
    const lost = Promise.withResolvers<string>();
    await node.ensure({
      run: () => undefined,
      lost: ({ code }) => {
        lost.resolve(code);
      },
    });
    const shell = await node.shell({ columns: 91, rows: 17 });
    shell.on('error', () => undefined);
    let seen = '';
    shell.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
    });
    shell.resize(101, 31);
    shell.write('echo "[$(stty size)]"\n');
    await until(
      () => seen,
      (text) => text.includes('[31 101]'),
      'the terminal’s size',
    );
    await server.cutSessions();
    expect(await lost.promise).toBe('SUPERVISOR_LOST');
    await expect(shell.exit).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' });
    // Made again by whoever needs it.
    const again = await node.ensure({ run: () => undefined, lost: () => undefined });
    expect(again.hello.catalogue.methods.length).toBeGreaterThan(5);
    await again.close();
    expect(await node.uninstall()).toEqual([]);
  },
);

test('with the built-in client it names the other one', async () => {
  // Its key alone is not let in, and a certificate is what ssh2 lacks.
  const direct = ['--host', '127.0.0.1', '--port', String(server.port)];
  const identity = path.join(home.directory, 'alone');
  writeFileSync(identity, readFileSync(key), { mode: 0o600 });
  const options = [...direct, '--identity', identity, '--transport', 'builtin'];
  expect(await home.run(['nodes', 'add', 'bare', ...options])).toMatchObject({
    code: 0,
  });
  const accept = ['--accept-host-key', server.fingerprint()];
  const { code, stderr } = await home.run(['nodes', 'check', 'bare', ...accept]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gradwire: SSH_AUTH_FAILED: /);
  expect(stderr).toContain('gradwire nodes edit bare --transport system');
  const listed = await home.run(['nodes', 'list', '--json']);
  expect(listed.stdout).toContain('"transport":"builtin"');
});

test('is taken by itself for a server that the built-in client does not understand', async () => {
  await using modern = await SshServer.start({
    config: ['KexAlgorithms sntrup761x25519-sha512@openssh.com'],
  });
  await using pool = new SshPool({
    directory: home.directory,
    confirmedHostKeys: [modern.fingerprint()],
    acceptedHostKeys: path.join(modern.directory, 'accepted'),
  });
  const own = await openHome(resolveHome({ GRADWIRE_HOME: home.directory }));
  const nodeBy = (transport: 'auto' | 'builtin'): RemoteNode => {
    const raw = {
      ...{ name: 'modern', destination: `127.0.0.1:${modern.port}`, transport },
      identities: [modern.key],
      configFile: '/dev/null',
    };
    return new RemoteNode(parseNodeEntry(raw), { home: own, pool });
  };
  const offers =
    'the server offers only the key exchanges sntrup761x25519-sha512@openssh.com';
  const node = nodeBy('auto');
  for (let round = 0; round < 2; round++) {
    const seen = await node.check();
    expect(seen.transport).toMatchObject({ kind: 'system' });
    expect(seen.notices).toEqual([
      expect.stringContaining(`the system’s ssh is used: ${offers}; `) as string,
    ]);
  }
  await expect(nodeBy('builtin').check()).rejects.toMatchObject({
    code: 'SSH_NO_COMMON_ALGORITHM',
    message: expect.stringContaining(offers) as string,
    next: expect.stringContaining(
      'gradwire nodes edit modern --transport system',
    ) as string,
  });
});
