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
