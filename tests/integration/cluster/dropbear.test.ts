/** A machine whose SSH server is dropbear: another implementation of the same protocol. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RemoteNode } from '../../../src/main/cluster/remote-node.ts';
import { openHome, resolveHome } from '../../../src/main/home/home.ts';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import { parseNodeEntry } from '../../../src/shared/machines/node-entry.ts';
import { until } from '../../harness/processes.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { freePort } from '../../harness/sshd.ts';

const DROPBEAR = '/usr/sbin/dropbear';
/** It knows no home but the password file's: a directory of ours is mounted over root's. */
const canRun =
  process.platform === 'linux' && process.getuid?.() === 0 && existsSync(DROPBEAR);

let directory: string;
let home: string;
let key: string;
let port: number;
let server: ChildProcess;
let fingerprint: string;

beforeAll(async () => {
  if (!canRun) return;
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-dropbear-'));
  home = path.join(directory, 'home');
  mkdirSync(path.join(home, '.ssh'), { recursive: true, mode: 0o700 });
  key = makeKey(path.join(directory, 'id_ed25519'));
  copyFileSync(`${key}.pub`, path.join(home, '.ssh', 'authorized_keys'));
  // With Node on its PATH: what a machine without it gets is another test's matter.
  const start = `export PATH=${path.dirname(process.execPath)}:$PATH\n`;
  writeFileSync(path.join(home, '.bashrc'), start);
  const hostKey = path.join(directory, 'host_key');
  const made = execFileSync('dropbearkey', ['-t', 'ed25519', '-f', hostKey], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  fingerprint = /Fingerprint: (SHA256:\S+)/.exec(made)![1]!;
  port = await freePort();
  const pid = path.join(directory, 'pid');
  const flags = [
    '-F',
    '-E',
    '-e',
    '-s',
    '-r',
    hostKey,
    '-P',
    pid,
    '-p',
    `127.0.0.1:${port}`,
  ];
  server = spawn(
    'unshare',
    [
      ...['--mount', '--propagation', 'private'],
      ...['sh', '-c', 'mount --bind "$1" /root && shift && exec "$@"', 'sh', home],
      ...[DROPBEAR, ...flags],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  server.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await until(
    () => existsSync(pid) || server.exitCode !== null,
    (ready) => ready,
    `dropbear to listen ${log}`,
  );
});
afterAll(async () => {
  if (!canRun) return;
  server.kill('SIGTERM');
  if (server.exitCode === null) await new Promise((end) => server.once('close', end));
  rmSync(directory, { recursive: true });
});

test.skipIf(!canRun)(
  'is checked, deployed to, spoken to and left',
  { tags: 'soak' },
  async () => {
    const local = await openHome(
      resolveHome({ GRADWIRE_HOME: path.join(directory, 'own') }),
    );
    await using pool = new SshPool({
      acceptedHostKeys: path.join(directory, 'accepted'),
      confirmedHostKeys: [fingerprint],
    });
    const entry = parseNodeEntry({
      ...{ name: 'box', destination: `root@127.0.0.1:${port}`, identities: [key] },
    });
    const node = new RemoteNode(entry, { home: local, pool });
    expect(await node.check()).toMatchObject({
      ...{ system: 'Linux', connection: { client: '127.0.0.1', server: '127.0.0.1' } },
    });
    const { uploaded, agent } = await node.deploy();
    expect(uploaded).toBeGreaterThan(0);
    expect(existsSync(path.join(home, '.gradwire/agents', agent))).toBe(true);
    const lost = Promise.withResolvers<string>();
    const control = await node.ensure({
      run: () => undefined,
      lost: ({ code }) => {
        lost.resolve(code);
      },
    });
    expect(control.hello.catalogue.methods.length).toBeGreaterThan(5);
    process.kill(control.hello.pid, 'SIGKILL');
    expect(await lost.promise).toBe('SUPERVISOR_LOST');
    expect(await node.uninstall()).toEqual([]);
    expect(existsSync(path.join(home, '.gradwire'))).toBe(false);
  },
);
