/**
 * Connections that the system's `ssh` makes to a real sshd: channels, certificates,
 * ProxyCommand, questions, host keys, and how they end.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import type { SshOpenOptions } from '../../../src/main/ssh/remote-connection.ts';
import { RememberedSecrets } from '../../../src/main/ssh/remembered-secrets.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import type {
  HostKeyQuestion,
  SecretsQuestion,
  SshQuestions,
} from '../../../src/shared/ssh-question.ts';
import { processesWith, until } from '../../harness/processes.ts';
import { makeKey, passwordsMissing, SshServer, testUser } from '../../harness/sshd.ts';
import { configOf, hostBlock, systemTarget } from './system-host.ts';

let server: SshServer;
let directory: string;
let connection: SystemSshConnection;

beforeAll(async () => {
  server = await SshServer.start();
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-system-'));
  connection = await open();
});

afterAll(async () => {
  await connection?.close();
  await server?.[Symbol.asyncDispose]();
  // What a connection needs while it lives is gone with it.
  expect(readdirSync(directory).filter((name) => name.startsWith('ssh-'))).toEqual([]);
  rmSync(directory, { recursive: true, force: true });
});

async function open(
  lines: readonly string[] = [],
  questions?: SshQuestions,
  options: SshOpenOptions = {},
  to = server,
): Promise<SystemSshConnection> {
  return await SystemSshConnection.open(await systemTarget(to, lines), questions, {
    directory,
    ...options,
  });
}

function asks(
  answers: readonly (readonly string[] | undefined)[],
  hostKey: 'accept' | 'refuse' = 'refuse',
): SshQuestions & {
  readonly keys: HostKeyQuestion[];
  readonly secretsAsked: SecretsQuestion[];
} {
  const keys: HostKeyQuestion[] = [];
  const secretsAsked: SecretsQuestion[] = [];
  return {
    keys,
    secretsAsked,
    hostKey: (question) => {
      keys.push(question);
      return Promise.resolve(hostKey);
    },
    secrets: (question) => {
      secretsAsked.push(question);
      return Promise.resolve(answers[secretsAsked.length - 1]);
    },
  };
}

describe('channels', () => {
  it('gives output, exit code and stderr apart', async () => {
    const result = await connection.run('echo out; echo err >&2; exit 255');
    expect(result).toEqual({
      ...{ code: 255, signal: null, stdout: 'out\n', stderr: 'err\n' },
    });
  });

  it('names the signal that ended a command', async () => {
    const result = await connection.run('kill -TERM $$');
    expect(result).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it('takes megabytes in and out, and several commands at once', async () => {
    const input = 'x'.repeat(5_000_000);
    const results = await Promise.all(
      [1, 2, 3].map(() => connection.run('cat', { input, maxBytes: 6_000_000 })),
    );
    for (const { stdout } of results) expect(stdout === input).toBe(true);
  });

  it('does not mind a command that does not read its input', async () => {
    const input = 'x'.repeat(5_000_000);
    const result = await connection.run('echo all of it', { input });
    expect(result).toMatchObject({ code: 0, stdout: 'all of it\n' });
  });

  it('waits for a reader without losing a byte', async () => {
    const stream = await connection.stream('seq 1000000');
    let bytes = 0;
    for await (const chunk of stream) {
      if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 50));
      bytes += (chunk as Buffer).length;
    }
    expect(bytes).toBe(6_888_896);
  });

  it('ends a command that is cancelled', async () => {
    const file = path.join(server.home, 'pid');
    const controller = new AbortController();
    const { signal } = controller;
    const ticking = `echo $$ > ${file}; while echo tick; do sleep 0.05; done`;
    const running = connection.run(ticking, { signal });
    const seen = expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    const pid = await until(
      () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
      (text) => text.endsWith('\n'),
      'the command to start',
    );
    controller.abort();
    await seen;
    await until(
      () => existsSync(`/proc/${pid.trim()}`),
      (lives) => !lives,
      'the remote command to end',
    );
  });

  it('has a shell at a terminal that can be resized, and that ends with it', async () => {
    const shell = await connection.shell({ columns: 91, rows: 17, term: 'xterm' });
    let seen = '';
    shell.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
    });
    shell.write('echo "[$(stty size) $TERM $$]"\n');
    await until(
      () => seen,
      (text) => /\[17 91 xterm \d+\]/.test(text),
      'the terminal’s size',
    );
    shell.resize(100, 30);
    shell.write('echo "[$(stty size)]"\n');
    await until(
      () => seen,
      (text) => text.includes('[30 100]'),
      'the new size',
    );
    const pid = /\[17 91 xterm (\d+)\]/.exec(seen)![1]!;
    shell.destroy();
    await until(
      () => existsSync(`/proc/${pid}`),
      (lives) => !lives,
      'the shell to hang up',
    );
  });

  it('reaches ports from there, and says where it cannot', async () => {
    const echo = net.createServer((socket) => socket.pipe(socket));
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    const { port } = echo.address() as net.AddressInfo;
    const stream = await connection.forward('127.0.0.1', port);
    stream.write('there and back');
    const [bytes] = (await once(stream, 'data')) as [Buffer];
    expect(bytes.toString()).toBe('there and back');
    stream.destroy();
    await new Promise((resolve) => echo.close(resolve));
    await expect(connection.forward('127.0.0.1', port)).rejects.toMatchObject({
      code: 'SSH_CHANNEL_REFUSED',
      message: expect.stringContaining('Connection refused'),
    });
  });
});

it('says what the server has no more sessions for', async () => {
  await using narrow = await SshServer.start({ config: ['MaxSessions 2'] });
  await using only = await open([], undefined, {}, narrow);
  const streams = await Promise.all([only.stream('cat'), only.stream('cat')]);
  await expect(only.run('true')).rejects.toMatchObject({
    code: 'SSH_CHANNEL_REFUSED',
    place: `${testUser}@127.0.0.1:${narrow.port}`,
    message: expect.stringContaining('open failed'),
    next: expect.stringContaining('MaxSessions'),
  });
  streams[0]!.destroy();
  await once(streams[0]!, 'close');
  await until(
    async () => (await only.run('echo on').catch(() => undefined))?.stdout,
    async (stdout) => (await stdout) === 'on\n',
    'a session to be free',
  );
  streams[1]!.destroy();
});

describe('certificates', () => {
  /** A throw-away authority, and what it signs. */
  function sign(authority: string, key: string, args: readonly string[]): void {
    execFileSync('ssh-keygen', [
      ...['-q', '-s', authority, '-I', 'test', ...args, `${key}.pub`],
    ]);
  }

  it('lets in by a user certificate, and takes one for granted beside the key', async () => {
    const authority = makeKey(path.join(directory, 'user_ca'));
    const key = makeKey(path.join(directory, 'id_certified'));
    await using certified = await SshServer.start({
      config: [`TrustedUserCAKeys ${authority}.pub`],
    });
    const lines = [`IdentityFile ${key}`];
    // The key itself is not authorized.
    const bare = configOf(certified, hostBlock('box', certified, lines)).trim();
    writeFileSync(bare, readFileSync(bare, 'utf8').replace(certified.key, key));
    const target = async (transport: 'auto' | 'builtin') =>
      await resolveTarget('box', { configFile: bare, transport });
    expect((await target('auto')).transport.kind).toBe('builtin');
    sign(authority, key, ['-n', testUser]);
    const { target: found, transport } = await target('auto');
    expect(transport).toEqual({
      kind: 'system',
      reason: `the certificate ${key}-cert.pub`,
    });
    await using opened = await SystemSshConnection.open(found, undefined, {
      directory,
    });
    expect((await opened.run('echo in')).stdout).toBe('in\n');
    expect(certified.log).toContain('Accepted publickey');
    expect(certified.log).toContain('ED25519-CERT');

    sign(authority, key, ['-n', 'somebody-else']);
    await expect(
      SystemSshConnection.open(found, undefined, { directory }),
    ).rejects.toMatchObject({ code: 'SSH_AUTH_FAILED' });
  });

  it('takes a host by its certificate, and by no other authority', async () => {
    const authority = makeKey(path.join(directory, 'host_ca'));
    const stranger = makeKey(path.join(directory, 'other_ca'));
    await using certified = await SshServer.start();
    const hostKey = path.join(certified.directory, 'host_ed25519');
    sign(authority, hostKey, ['-h', '-n', '127.0.0.1']);
    const knownHosts = path.join(certified.directory, 'authorities');
    const trust = (file: string): void => {
      const key = readFileSync(`${file}.pub`, 'utf8');
      writeFileSync(knownHosts, `@cert-authority [127.0.0.1]:* ${key}`);
    };
    await certified.stop();
    const config = path.join(certified.directory, 'sshd_config');
    writeFileSync(config, '');
    await using showing = await SshServer.start({
      config: [`HostKey ${hostKey}`, `HostCertificate ${hostKey}-cert.pub`],
    });
    const lines = [`UserKnownHostsFile ${knownHosts}`];
    const configFile = configOf(showing, hostBlock('box', showing, lines));
    trust(authority);
    const { target, transport } = await resolveTarget('box', { configFile });
    expect(transport).toMatchObject({
      kind: 'system',
      reason: expect.stringContaining('certificate authority'),
    });
    await using opened = await SystemSshConnection.open(target, undefined, {
      directory,
    });
    expect((await opened.run('echo in')).stdout).toBe('in\n');
    trust(stranger);
    await expect(
      SystemSshConnection.open(target, undefined, { directory }),
    ).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
      next: expect.stringContaining('--accept-host-key SHA256:'),
    });
  });
});

describe('the way there', () => {
  const bridge = (to: SshServer): string =>
    `${process.execPath} -e 'const s = require("net").connect(${to.port}, "${to.host}"); ` +
    `process.stdin.pipe(s).pipe(process.stdout)'`;

  it('is a ProxyCommand where the configuration has one', async () => {
    const known = path.join(directory, 'known_alias');
    writeFileSync(known, `the-box ${server.hostKey()}\n`);
    const lines = ['HostName nowhere.invalid', 'HostKeyAlias the-box'];
    lines.push(`UserKnownHostsFile ${known}`);
    const proxy = `ProxyCommand ${bridge(server)}`;
    const configFile = configOf(server, hostBlock('box', server, [...lines, proxy]));
    const { target, transport } = await resolveTarget('box', { configFile });
    expect(transport).toMatchObject({
      kind: 'system',
      reason: expect.stringContaining('ProxyCommand'),
    });
    await using opened = await SystemSshConnection.open(target, undefined, {
      directory,
    });
    expect((await opened.run('echo in')).stdout).toBe('in\n');
  });

  it('tells what a ProxyCommand says that fails', async () => {
    const proxy = `ProxyCommand sh -c 'echo the tunnel is shut >&2; exit 1'`;
    await expect(open([proxy])).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: expect.stringContaining('the tunnel is shut'),
      next: expect.stringContaining('ProxyCommand'),
    });
  });

  it('leads through jump hosts, each checked and logged in to by itself', async () => {
    await using first = await SshServer.start();
    await using second = await SshServer.start();
    const blocks = [
      hostBlock('first', first),
      hostBlock('second', second, ['ProxyJump first']),
      hostBlock('box', server, ['ProxyJump second']),
    ];
    const configFile = configOf(server, ...blocks);
    const { target } = await resolveTarget('box', { configFile, transport: 'system' });
    await using opened = await SystemSshConnection.open(target, undefined, {
      directory,
    });
    const { stdout } = await opened.run('echo $SSH_CONNECTION');
    expect(stdout).toContain(` ${server.port}\n`);
    for (const hop of [first, second]) expect(hop.log).toContain('Accepted publickey');
    await second.cutSessions();
    expect((await opened.closed).error).toMatchObject({ code: 'SSH_CONNECTION_LOST' });
  });

  it('asks no jump host for what nobody can answer', async () => {
    await using first = await SshServer.start();
    const locked = makeKey(path.join(first.directory, 'locked'), { passphrase: 'x' });
    const blocks = [
      hostBlock('first', first).replace(first.key, locked),
      hostBlock('box', server, ['ProxyJump first']),
    ];
    const configFile = configOf(server, ...blocks);
    const { target } = await resolveTarget('box', { configFile, transport: 'system' });
    first.authorize(locked);
    await expect(
      SystemSshConnection.open(target, undefined, { directory }),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
      message: expect.stringContaining(locked),
    });
    const questions = asks([['x']]);
    await using opened = await SystemSshConnection.open(target, questions, {
      directory,
    });
    expect((await opened.run('echo in')).stdout).toBe('in\n');
  });
});

describe('questions', () => {
  it('asks for a passphrase until it is right, and remembers it', async () => {
    const key = makeKey(path.join(directory, 'locked'), { passphrase: 'open sesame' });
    server.authorize(key);
    const config = configOf(server, hostBlock('box', server)).trim();
    writeFileSync(config, readFileSync(config, 'utf8').replace(server.key, key));
    const { target } = await resolveTarget('box', {
      ...{ configFile: config, transport: 'system' as const },
    });
    const secrets = new RememberedSecrets();
    const questions = asks([['wrong'], ['open sesame']]);
    const options = { directory, secrets };
    await using first = await SystemSshConnection.open(target, questions, options);
    expect((await first.run('echo in')).stdout).toBe('in\n');
    expect(questions.secretsAsked).toMatchObject([
      { kind: 'passphrase', prompts: [{ text: `Passphrase for key ${key}:` }] },
      { kind: 'passphrase', instruction: 'That passphrase was wrong.' },
    ]);
    await using again = await SystemSshConnection.open(target, undefined, options);
    expect(again.isOpen).toBe(true);
    await expect(
      SystemSshConnection.open(target, questions, { directory, interactive: false }),
    ).rejects.toMatchObject({ code: 'SSH_AUTH_NEEDED' });
    await expect(
      SystemSshConnection.open(target, asks([undefined]), { directory }),
    ).rejects.toMatchObject({ code: 'SSH_AUTH_CANCELLED' });
  });

  it('shows a host key that is not known, and keeps it in a file of ours', async () => {
    const users = path.join(directory, 'users_known_hosts');
    const ours = path.join(directory, 'ours');
    const lines = [`UserKnownHostsFile ${users}`, 'StrictHostKeyChecking ask'];
    const options = { acceptedHostKeys: ours };
    const fingerprint = server.fingerprint();
    const flag = `--accept-host-key ${fingerprint}`;
    await expect(open(lines, undefined, options)).rejects.toMatchObject({
      ...{ code: 'HOST_KEY_UNKNOWN', next: expect.stringContaining(flag) },
    });
    await expect(open(lines, asks([]), options)).rejects.toMatchObject({
      code: 'HOST_KEY_REFUSED',
    });
    expect(existsSync(ours)).toBe(false);
    const accepts = asks([], 'accept');
    await (await open(lines, accepts, options)).close();
    const { host, port } = server;
    expect(accepts.keys).toEqual([
      { host, port, keyType: 'ssh-ed25519', fingerprint, reason: 'unknown' },
    ]);
    expect(readFileSync(ours, 'utf8')).toContain(server.hostKey());
    expect(existsSync(users)).toBe(false);
    await (await open(lines, undefined, options)).close();
  });

  it('takes a key that was named, under StrictHostKeyChecking=yes too', async () => {
    const lines = ['UserKnownHostsFile none', 'StrictHostKeyChecking yes'];
    const acceptedHostKeys = path.join(directory, 'named');
    const other = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    await expect(
      open(lines, asks([], 'accept'), { confirmedHostKeys: [other] }),
    ).rejects.toMatchObject({ code: 'HOST_KEY_UNKNOWN' });
    const confirmedHostKeys = [server.fingerprint()];
    await (
      await open(lines, undefined, { confirmedHostKeys, acceptedHostKeys })
    ).close();
    expect(readFileSync(acceptedHostKeys, 'utf8')).toContain(server.hostKey());
  });

  it.each(['yes', 'ask', 'no'])(
    'refuses a key that has changed, StrictHostKeyChecking %s',
    async (checking) => {
      const other = makeKey(path.join(directory, `changed_${checking}`));
      const file = path.join(directory, `known_${checking}`);
      const key = readFileSync(`${other}.pub`, 'utf8');
      writeFileSync(file, `# a comment\n[127.0.0.1]:${server.port} ${key}`);
      const lines = [`UserKnownHostsFile ${file}`, `StrictHostKeyChecking ${checking}`];
      const opening = open(lines, asks([], 'accept'), {
        confirmedHostKeys: [server.fingerprint()],
      });
      await expect(opening).rejects.toMatchObject({
        code: 'HOST_KEY_CHANGED',
        message: expect.stringContaining(server.fingerprint()),
      });
      await expect(opening).rejects.toThrow(`${file}:2`);
    },
  );

  it('refuses a key that was revoked', async () => {
    const file = path.join(directory, 'known_revoked');
    writeFileSync(file, `@revoked * ${server.hostKey()}\n`);
    await expect(
      open([`UserKnownHostsFile ${file}`], asks([], 'accept')),
    ).rejects.toMatchObject({ code: 'HOST_KEY_REVOKED' });
  });

  it('tells an account that is not let in', async () => {
    const key = makeKey(path.join(directory, 'stranger'));
    const config = configOf(server, hostBlock('box', server).replace(server.key, key));
    const { target } = await resolveTarget('box', {
      ...{ configFile: config, transport: 'system' as const },
    });
    await expect(
      SystemSshConnection.open(target, asks([]), { directory }),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringMatching(/Permission denied: .*publickey/),
    });
  });

  it('says that nothing listens', async () => {
    await expect(open(['Port 1'])).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: expect.stringContaining('Connection refused'),
    });
  });
});

const noPasswords = passwordsMissing();

describe.skipIf(noPasswords !== undefined)(
  `passwords (${noPasswords ?? 'real'})`,
  () => {
    const PASSWORD = 'correct horse';
    let guarded: SshServer;
    beforeAll(async () => {
      guarded = await SshServer.start({ password: PASSWORD });
    });
    afterAll(async () => {
      await guarded?.[Symbol.asyncDispose]();
    });

    it.each([
      ['password', 'KbdInteractiveAuthentication no', 'password'],
      ['keyboard-interactive', 'PasswordAuthentication no', 'keyboard-interactive'],
    ])('asks for one by %s, once', async (method, _, kind) => {
      const lines = [`PreferredAuthentications ${method}`];
      const secrets = new RememberedSecrets();
      const questions = asks([['wrong'], [PASSWORD]]);
      const opened = await open(lines, questions, { secrets }, guarded);
      expect((await opened.run('echo in')).stdout).toBe('in\n');
      await opened.close();
      expect(questions.secretsAsked.map((asked) => asked.kind)).toEqual([kind, kind]);
      // Made again without anybody to ask.
      await (await open(lines, undefined, { secrets }, guarded)).close();
      secrets.keepPassword(`${testUser}@127.0.0.1:${guarded.port}`, 'outdated');
      await expect(open(lines, undefined, { secrets }, guarded)).rejects.toMatchObject({
        code: 'SSH_AUTH_NEEDED',
      });
      await expect(open(lines, undefined, {}, guarded)).rejects.toMatchObject({
        code: 'SSH_AUTH_NEEDED',
      });
    });
  },
);

describe('the end', () => {
  it('fails all that waits when the connection is cut', async () => {
    await using lone = await SshServer.start();
    const opened = await open([], undefined, {}, lone);
    const running = opened.run('cat; sleep 1000');
    const shell = await opened.shell({ columns: 80, rows: 24 });
    const stream = await opened.stream('cat');
    const failed = Promise.all([
      expect(running).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' }),
      expect(shell.exit).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' }),
      expect(once(stream, 'data')).rejects.toMatchObject({
        ...{
          code: 'SSH_CONNECTION_LOST',
          place: expect.stringContaining('@127.0.0.1'),
        },
      }),
      expect(once(shell, 'end')).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' }),
    ]);
    shell.resume();
    await lone.cutSessions();
    await failed;
    expect((await opened.closed).error).toMatchObject({ code: 'SSH_CONNECTION_LOST' });
    expect(opened.isOpen).toBe(false);
    await expect(opened.run('true')).rejects.toMatchObject({
      code: 'SSH_CONNECTION_LOST',
    });
    await opened.close();
  });

  it('is given up by a signal while it is made', async () => {
    const deaf = net.createServer();
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve));
    const { port } = deaf.address() as net.AddressInfo;
    const controller = new AbortController();
    const opening = open([`Port ${port}`], undefined, { signal: controller.signal });
    const refused = expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
    const [socket] = (await once(deaf, 'connection')) as [net.Socket];
    const letGo = once(socket.resume(), 'close');
    controller.abort();
    await refused;
    await letGo;
    await new Promise((resolve) => deaf.close(resolve));
  });

  it('leaves no process, close or SIGKILL', async () => {
    const mark = `GRADWIRE_TEST=${directory}`;
    const script = path.join(directory, 'owner.ts');
    const source = (file: string): string =>
      JSON.stringify(path.join(import.meta.dirname, '../../../src/main/ssh', file));
    const proxy = `${process.execPath} -e 'const s = require("net").connect(${server.port}, "127.0.0.1"); process.stdin.pipe(s).pipe(process.stdout)'`;
    const configFile = configOf(
      server,
      hostBlock('box', server, [`ProxyCommand ${proxy}`]),
    );
    mkdirSync(path.join(directory, 'owned'));
    const owned = JSON.stringify(path.join(directory, 'owned'));
    writeFileSync(
      script,
      `const { resolveTarget } = await import(${source('config/resolve-target.ts')});
       const { SystemSshConnection } = await import(${source('system-connection.ts')});
       const { target } = await resolveTarget('box', { configFile: ${JSON.stringify(configFile)} });
       const connection = await SystemSshConnection.open(target, undefined, { directory: ${owned} });
       void connection.run('sleep 1000', { deadlineMs: 1e6 }).catch(() => undefined);
       console.log('open');
       process.stdin.once('data', async () => { await connection.close(); process.exit(); });`,
    );
    for (const end of ['close', 'SIGKILL'] as const) {
      const owner = spawn(process.execPath, [script], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, GRADWIRE_TEST: directory },
      });
      const [line] = (await once(owner.stdout, 'data')) as [Buffer];
      expect(line.toString()).toBe('open\n');
      expect(processesWith(mark, 'ssh ').length).toBeGreaterThan(0);
      const exited = once(owner, 'exit');
      if (end === 'close') owner.stdin.write('\n');
      else owner.kill('SIGKILL');
      await exited;
      await until(
        () => processesWith(mark),
        (left) => left.length === 0,
        `all processes to end after ${end}`,
      );
      expect(readdirSync(path.join(directory, 'owned'))).toEqual([]);
    }
  });
});
