/** A connection to a real sshd: commands, streams, a shell, SFTP, forwarded ports, its end. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { SshServer } from '../../harness/sshd.ts';
import { until } from '../../harness/processes.ts';
import { hear, listenAs } from './named-ports.ts';

/** Runs until nobody reads it any more. */
const TICKING = 'while echo tick; do sleep 0.05; done';

let server: SshServer;
let connection: SshConnection;

beforeAll(async () => {
  server = await SshServer.start();
  connection = await SshConnection.open(server.target());
});

afterAll(async () => {
  await connection?.close();
  await server?.[Symbol.asyncDispose]();
});

describe('run', () => {
  it('gives output, exit code and stderr apart', async () => {
    const result = await connection.run('echo out; echo err >&2; exit 3');
    expect(result).toEqual({ code: 3, signal: null, stdout: 'out\n', stderr: 'err\n' });
  });

  it('names the signal that ended a command', async () => {
    const result = await connection.run('kill -TERM $$');
    expect(result).toMatchObject({ code: null, signal: 'SIGTERM' });
  });

  it.each([
    ['text', 'Grüße\n'],
    ['bytes', new TextEncoder().encode('Grüße\n')],
    ['a stream', Readable.from(['Grü', 'ße\n'])],
  ])('feeds stdin with %s and closes it', async (_, input) => {
    expect((await connection.run('cat', { input })).stdout).toBe('Grüße\n');
  });

  it('takes megabytes in and out', async () => {
    const input = 'x'.repeat(5_000_000);
    const { stdout } = await connection.run('cat', { input, maxBytes: 6_000_000 });
    expect(stdout === input).toBe(true);
  });

  it('does not mind a command that does not read its input', async () => {
    const input = 'x'.repeat(5_000_000);
    for (let round = 0; round < 5; round++) {
      const result = await connection.run('echo all of it', { input });
      expect(result).toMatchObject({ code: 0, stdout: 'all of it\n' });
    }
  });

  it('refuses output beyond its bound, and the connection stays', async () => {
    await expect(connection.run('yes', { maxBytes: 100_000 })).rejects.toMatchObject({
      code: 'SSH_OUTPUT_TOO_LARGE',
    });
    expect((await connection.run('echo on')).stdout).toBe('on\n');
  });

  it('keeps the end of a long stderr', async () => {
    const { stderr } = await connection.run('seq 100000 >&2');
    expect(stderr.endsWith('99999\n100000\n')).toBe(true);
    expect(stderr.length).toBeLessThan(20_000);
  });

  it('ends a command at its deadline', async () => {
    await expect(connection.run(TICKING, { deadlineMs: 300 })).rejects.toMatchObject({
      code: 'SSH_TIMEOUT',
    });
  });

  it('ends a command that is cancelled', async () => {
    const file = path.join(server.home, 'pid');
    const controller = new AbortController();
    const running = connection.run(`echo $$ > ${file}; ${TICKING}`, {
      signal: controller.signal,
    });
    const seen = expect(running).rejects.toMatchObject({ code: 'ABORTED' });
    await until(
      () => tryRead(file),
      (text) => text.endsWith('\n'),
      'the command to start',
    );
    controller.abort();
    await seen;
    await until(
      () => alive(Number(tryRead(file))),
      (lives) => !lives,
      'the remote command to end',
    );
  });
});

describe('stream', () => {
  it('carries bytes both ways and reports the exit', async () => {
    const stream = await connection.stream('cat; echo done >&2; exit 7');
    stream.write(Buffer.from([0, 255, 10, 13]));
    const [first] = (await once(stream, 'data')) as [Buffer];
    expect([...first]).toEqual([0, 255, 10, 13]);
    stream.end();
    stream.resume();
    await once(stream, 'close');
    expect(await stream.exit).toEqual({ code: 7, signal: null });
    expect(stream.stderr).toBe('done\n');
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

  it('closes when it is destroyed, and takes no more', async () => {
    const stream = await connection.stream('cat');
    stream.destroy();
    await once(stream, 'close');
    expect(stream.writable).toBe(false);
  });

  it('fails writes once the command is gone', async () => {
    const stream = await connection.stream('exec true');
    stream.resume();
    await stream.exit;
    const written = new Promise((resolve) => stream.write('x', resolve));
    stream.on('error', () => undefined);
    expect(await written).toBeInstanceOf(Error);
  });
});

it('has a shell at a terminal that can be resized', async () => {
  const shell = await connection.shell({ columns: 91, rows: 17, term: 'xterm' });
  let seen = '';
  shell.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
  });
  shell.write('echo "[$(stty size) $TERM]"\n');
  await until(
    () => seen,
    (text) => text.includes('[17 91 xterm]'),
    'the size',
  );
  shell.resize(120, 40);
  shell.write('echo "[$(stty size)]"\n');
  await until(
    () => seen,
    (text) => text.includes('[40 120]'),
    'the new size',
  );
  shell.end('exit\n');
  expect(await shell.exit).toMatchObject({ code: 0 });
});

it('has files by SFTP', async () => {
  const sftp = await connection.sftp();
  const file = path.join(server.home, 'by-sftp');
  await new Promise<void>((resolve, reject) => {
    sftp!.writeFile(file, 'through SFTP', (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
  sftp!.end();
  expect(readFileSync(file, 'utf8')).toBe('through SFTP');
});

it('forwards to a port that the host can reach', async () => {
  const echo = net.createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const stream = await connection.forward(
    '127.0.0.1',
    (echo.address() as net.AddressInfo).port,
  );
  stream.write('there and back');
  const [answer] = (await once(stream, 'data')) as [Buffer];
  expect(answer.toString()).toBe('there and back');
  stream.destroy();
  await once(stream, 'close');
  echo.close();
});

it('says which port is closed', async () => {
  await expect(connection.forward('127.0.0.1', 1)).rejects.toMatchObject({
    code: 'SSH_CHANNEL_REFUSED',
  });
});

describe('listen', () => {
  it('passes connections to a port of the host to the code that requested it', async () => {
    const names = ['a', 'b', 'c'];
    const ports = await listenAs(connection, names);
    expect(await Promise.all(ports.map(hear))).toEqual(names);
    for (const port of ports) port.close();
    await expect
      .poll(() => hear(ports[0]!).catch((error: NodeJS.ErrnoException) => error.code))
      .toBe('ECONNREFUSED');
  });
});

describe('its end', () => {
  it('lets a port be closed while it is under way', async () => {
    const target = server.target();
    let freeze = (): void => undefined;
    const proxy = net.createServer({ allowHalfOpen: true }, (near) => {
      const far = net.connect(target.port, target.host);
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) socket.on('error', () => undefined);
      // Says that it sends no more, and takes no more: no end comes of what we send.
      freeze = () => {
        near.unpipe(far).pause();
        far.unpipe(near);
        near.end();
      };
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as net.AddressInfo;
    const ending = await SshConnection.open(
      server.target({ port, strictHostKeyChecking: 'no', userKnownHosts: [] }),
    );
    const [listening] = await listenAs(ending, ['a']);
    const stream = await ending.stream('cat >/dev/null');
    stream.on('error', () => undefined);
    freeze();
    stream.write(Buffer.alloc(20_000_000));
    let ended = false;
    void ending.closed.then(() => (ended = true));
    // Between the end of its socket and that of the connection nothing can be sent.
    while (!ended) {
      listening!.close();
      await new Promise(setImmediate);
    }
    listening!.close();
    proxy.close();
  });

  it('is reported when it was requested', async () => {
    const second = await SshConnection.open(server.target());
    const running = second.run(TICKING);
    const stream = await second.stream('cat');
    const failed = expect(running).rejects.toMatchObject({
      code: 'SSH_CONNECTION_CLOSED',
    });
    const closed = once(stream, 'close');
    await second.close();
    await failed;
    await closed;
    await expect(stream.exit).rejects.toMatchObject({ code: 'SSH_CONNECTION_CLOSED' });
    expect(await second.closed).toEqual({ error: undefined });
    await expect(second.run('true')).rejects.toMatchObject({
      code: 'SSH_CONNECTION_CLOSED',
    });
  });

  it('reports a cut to everything that is open', async () => {
    const other = await SshServer.start();
    try {
      const cut = await SshConnection.open(other.target());
      const running = cut.run(TICKING);
      const stream = await cut.stream('cat');
      const ran = expect(running).rejects.toMatchObject({
        code: 'SSH_CONNECTION_LOST',
      });
      const streamed = expect(once(stream, 'data')).rejects.toMatchObject({
        code: 'SSH_CONNECTION_LOST',
        place: `${other.target().user}@127.0.0.1:${other.port}`,
      });
      await other.cutSessions();
      await Promise.all([ran, streamed]);
      expect((await cut.closed).error).toMatchObject({ code: 'SSH_CONNECTION_LOST' });
      await expect(stream.exit).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' });
      expect(cut.isOpen).toBe(false);
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });
});

function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
