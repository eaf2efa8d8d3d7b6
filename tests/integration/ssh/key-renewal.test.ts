/**
 * A real sshd that renews the session's keys again and again while bytes flow, by volume and
 * by time: uploads, downloads, tunnels, terminals and streams must not notice.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import type { RemoteConnection } from '../../../src/main/ssh/remote-connection.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import { sshTarget } from '../../../src/main/ssh/target.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer, type SshServerOptions } from '../../harness/sshd.ts';
import { systemTarget } from './system-host.ts';

const data = randomBytes(2 ** 19);

/** Renewals that are enough for one to meet everything. */
const MANY = 20;

/** How often a server has renewed its keys. */
const renewals = ({ log }: SshServer): number =>
  log.match(/set_newkeys: rekeying out/g)?.length ?? 0;

const renewing = (limit: string, config: readonly string[] = []): SshServerOptions => ({
  config: [`RekeyLimit ${limit}`, 'LogLevel DEBUG1', ...config],
});

let echo: net.Server;
let echoPort: number;

beforeAll(async () => {
  echo = net.createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  ({ port: echoPort } = echo.address() as net.AddressInfo);
});
afterAll(() => echo.close());

/** Sends everything and gives what came back. */
async function thereAndBack(stream: Duplex): Promise<boolean> {
  stream.end(data);
  return (await buffer(stream)).equals(data);
}

/** Types lines into a terminal, each after the answer to the one before. */
async function converse(shell: Duplex, over: () => boolean): Promise<number> {
  let seen = '';
  shell.setEncoding('utf8').on('data', (text: string) => {
    seen = (seen + text).slice(-1000);
  });
  let line = 0;
  for (; line < 20 || !over(); line++) {
    shell.write(`echo "<$((${line}))>"\n`);
    const answer = `<${line}>`;
    while (!seen.includes(answer)) await once(shell, 'data');
  }
  shell.end('exit\n');
  return line;
}

/** Both ways through everything that a connection carries, all at once. */
async function carryEverything(
  connection: RemoteConnection,
  server: SshServer,
): Promise<void> {
  const { length } = data;
  const file = path.join(server.home, 'uploaded');
  const port = await connection.listen((stream) => stream.pipe(stream));
  const shell = await connection.shell({ columns: 80, rows: 24 });
  const cat = await connection.stream('cat');
  const tunnel = await connection.forward('127.0.0.1', echoPort);
  let over = false;
  const typing = converse(shell, () => over);
  const download = `head -c ${length} /dev/zero | tr '\\0' x`;
  const [there, back, returned, uploaded, downloaded] = await Promise.all([
    thereAndBack(cat),
    thereAndBack(tunnel),
    thereAndBack(net.connect(port.port, '127.0.0.1')),
    connection.run(`cat > ${file}`, { input: data }),
    connection.run(download, { maxBytes: length }),
  ]);
  over = true;
  await typing;
  expect(await shell.exit).toMatchObject({ code: 0 });
  expect([there, back, returned]).toEqual([true, true, true]);
  expect(uploaded.code).toBe(0);
  expect(readFileSync(file).equals(data)).toBe(true);
  expect(downloaded.stdout === 'x'.repeat(length)).toBe(true);
  port.close();
}

/**
 * Carries everything until each server has renewed its keys often: how often it does that at once
 * depends on what is on its way meanwhile.
 */
async function carryUntilRenewed(
  connection: RemoteConnection,
  server: SshServer,
  ...doors: readonly SshServer[]
): Promise<void> {
  do await carryEverything(connection, server);
  while ([server, ...doors].some((one) => renewals(one) <= MANY));
}

/** Ciphers of all three constructions: AEAD, ChaCha20-Poly1305, and encrypt-then-MAC. */
describe.each([
  ['aes128-gcm@openssh.com', []],
  ['chacha20-poly1305@openssh.com', ['soak']],
  ['aes256-ctr', ['soak']],
])('renewed every 64 KiB, under %s', (cipher, tags) => {
  test(
    'keys of a machine do not disturb what a connection carries',
    { tags },
    async () => {
      await using server = await SshServer.start(
        renewing('64K none', [`Ciphers ${cipher}`]),
      );
      await using connection = await SshConnection.open(server.target());
      await carryUntilRenewed(connection, server);
      expect((await connection.run('echo on')).stdout).toBe('on\n');
    },
  );
});

test(
  'keys of a machine and its jump host are renewed while SFTP and streams flow',
  { tags: 'soak' },
  async () => {
    await using door = await SshServer.start(renewing('64K none'));
    await using server = await SshServer.start(renewing('64K none'));
    const target = server.target({ jumps: [door.target()] });
    await using connection = await SshConnection.open(target);
    await carryUntilRenewed(connection, server, door);
    const sftp = (await connection.sftp())!;
    const file = path.join(server.home, 'by-sftp');
    const returned = await new Promise<Buffer>((resolve, reject) => {
      sftp.writeFile(file, data, (failed) => {
        if (failed) reject(failed);
        sftp.readFile(file, (error, read) => {
          if (error) reject(error);
          else resolve(read);
        });
      });
    });
    sftp.end();
    expect(returned.equals(data)).toBe(true);
  },
);

/** Renewals by time, each a second after the one before, that everything has to live through. */
const SECONDS = 4;
const BLOCK = 4096;

/** Sends random blocks until it is over; gives a digest of them. */
async function sendUntil(stream: Duplex, over: () => boolean): Promise<string> {
  const sent = createHash('sha256');
  while (!over()) {
    const block = randomBytes(BLOCK);
    sent.update(block);
    if (!stream.write(block)) await once(stream, 'drain');
    await setImmediate();
  }
  stream.end();
  return sent.digest('hex');
}

/** Sends to what sends everything back, until it is over; whether all came back, in order. */
async function echoUntil(stream: Duplex, over: () => boolean): Promise<boolean> {
  const received = createHash('sha256');
  stream.on('data', (chunk: Buffer) => received.update(chunk));
  const [sent] = await Promise.all([sendUntil(stream, over), once(stream, 'end')]);
  return received.digest('hex') === sent;
}

const CLIENTS: readonly (readonly [
  name: string,
  open: (server: SshServer) => Promise<RemoteConnection>,
])[] = [
  ['the built-in client', (server) => SshConnection.open(server.target())],
  [
    'the system’s ssh',
    async (server) => await SystemSshConnection.open(await systemTarget(server)),
  ],
];

/** All of it is open throughout: streams, a tunnel, a port there, an upload and a terminal. */
test.each(CLIENTS)(
  'keys are renewed by time, too, with %s',
  { tags: 'soak' },
  async (_, open) => {
    await using server = await SshServer.start(renewing('default 1'));
    await using connection = await open(server);
    const over = (): boolean => renewals(server) >= SECONDS;
    const file = path.join(server.home, 'uploaded');
    const port = await connection.listen((stream) => stream.pipe(stream));
    const shell = await connection.shell({ columns: 80, rows: 24 });
    const upload = await connection.stream(`cat > ${file}`);
    const returned = await Promise.all([
      echoUntil(await connection.stream('cat'), over),
      echoUntil(await connection.forward('127.0.0.1', echoPort), over),
      echoUntil(net.connect(port.port, '127.0.0.1'), over),
      sendUntil(upload, over),
      converse(shell, over),
      once(upload.resume(), 'close'),
    ]);
    const [stream, tunnel, there, sent] = returned;
    expect([stream, tunnel, there]).toEqual([true, true, true]);
    expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(sent);
    expect(await shell.exit).toMatchObject({ code: 0 });
    port.close();
  },
);

test('a server that shows another key of its own at a renewal is refused', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-renewal-'));
  const keys = ['first', 'second'].map((name) =>
    readFileSync(makeKey(path.join(directory, name))),
  );
  const serving = Promise.withResolvers<ssh2.Connection>();
  const server = new ssh2.Server({ hostKeys: [keys[0]!] }, (client) => {
    client.on('error', () => undefined);
    client.on('authentication', (context) => {
      context.accept();
    });
    serving.resolve(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  await using connection = await SshConnection.open(
    sshTarget({
      host: '127.0.0.1',
      port,
      identities: [],
      agent: undefined,
      strictHostKeyChecking: 'no',
      userKnownHosts: [],
      globalKnownHosts: [],
    }),
  );
  const client = await serving.promise;
  const renewed = new Promise<void>((resolve) => {
    client.rekey(resolve);
  });
  await renewed;
  expect(connection.isOpen).toBe(true);
  // ssh2 cannot change a server's key, and no honest server does.
  const { _protocol: protocol } = client as unknown as {
    _protocol: { _hostKeys: Record<string, unknown> };
  };
  protocol._hostKeys['ssh-ed25519'] = ssh2.utils.parseKey(keys[1]!);
  client.rekey();
  const { error } = await connection.closed;
  expect(error).toMatchObject({
    code: 'HOST_KEY_CHANGED',
    message: expect.stringMatching(
      /^127\.0\.0\.1 presents a ssh-ed25519 key SHA256:\S+ within a connection/,
    ) as string,
  });
  server.close();
  rmSync(directory, { recursive: true });
});

test('the system’s ssh renews keys by itself, too', { tags: 'soak' }, async () => {
  // OpenSSH's first choice, a post-quantum exchange, takes its time.
  const kex = 'KexAlgorithms curve25519-sha256';
  await using server = await SshServer.start(renewing('64K none', [kex]));
  const target = await systemTarget(server, ['RekeyLimit 64K']);
  await using connection = await SystemSshConnection.open(target);
  await carryUntilRenewed(connection, server);
});
