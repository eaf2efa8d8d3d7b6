/** Connections that the system's `ssh` makes to a real sshd: their channels and their end. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SshOpenOptions } from '../../../src/main/ssh/remote-connection.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import type { SshQuestions } from '../../../src/shared/machines/ssh-question.ts';
import { effort } from '../../harness/effort.ts';
import { processesWith, until, untilAsync } from '../../harness/processes.ts';
import { SshServer, testUser } from '../../harness/sshd.ts';
import { hear, listenAs } from './named-ports.ts';
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
  expect(
    readdirSync(directory).filter((name) => name.startsWith('gradwire-ssh-')),
  ).toEqual([]);
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

describe('channels', () => {
  it('gives output, exit code and stderr apart', async () => {
    const result = await connection.run('echo out; echo err >&2; exit 255');
    expect(result).toEqual({
      code: 255,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
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

  it('reaches ports from there, or reports that it cannot', async () => {
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

describe('listen', () => {
  it('passes connections to a port of the host to the code that requested it', async () => {
    const names = ['a', 'b', 'c'];
    const ports = await listenAs(connection, names);
    expect(await Promise.all(ports.map(hear))).toEqual(names);
    ports[0]!.close();
    // The server goes on listening, and what comes is turned away.
    expect(await hear(ports[0]!).catch(() => '')).toBe('');
    expect(await hear(ports[1]!)).toBe('b');
  });

  it('carries much both ways', async () => {
    const { port } = await connection.listen((stream) => {
      stream.pipe(stream);
    });
    const sent = randomBytes(3_000_000);
    const socket = net.connect(port, '127.0.0.1');
    socket.end(sent);
    expect((await buffer(socket)).equals(sent)).toBe(true);
  });

  it('says that the server forbids it', async () => {
    await using strict = await SshServer.start({
      config: ['AllowTcpForwarding no'],
    });
    await using lone = await open([], undefined, {}, strict);
    await expect(lone.listen(() => undefined)).rejects.toMatchObject({
      code: 'SSH_CHANNEL_REFUSED',
      place: `${testUser}@127.0.0.1:${strict.port}`,
      next: expect.stringContaining('AllowTcpForwarding'),
    });
  });
});

it('names what the server has no more sessions for', async () => {
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
  await untilAsync(
    async () => (await only.run('echo on').catch(() => undefined))?.stdout,
    (stdout) => stdout === 'on\n',
    'a session to be free',
  );
  streams[1]!.destroy();
});

describe('the end', () => {
  it('fails all that waits when the connection is cut', async () => {
    await using lone = await SshServer.start();
    const opened = await open([], undefined, {}, lone);
    const running = opened.run('cat', { input: new PassThrough() });
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
       (await connection.stream('cat')).on('error', () => undefined);
       console.log('open');
       process.stdin.once('data', async () => { await connection.close(); process.exit(); });`,
    );
    const ends = effort({ quick: ['SIGKILL'], soak: ['close', 'SIGKILL'] } as const);
    for (const end of ends) {
      const owner = spawn(process.execPath, [script], {
        stdio: ['pipe', 'pipe', 'inherit'],
        env: { ...process.env, GRADWIRE_TEST: directory },
      });
      let said = '';
      owner.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
      await until(
        () => said !== '' || owner.exitCode !== null,
        (done) => done,
        'the owner to connect',
      );
      expect(said).toBe('open\n');
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
