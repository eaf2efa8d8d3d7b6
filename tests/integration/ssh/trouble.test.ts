/** What goes wrong between here and a machine, and how each is told. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { runScript } from '../../../src/main/ssh/remote-script.ts';
import { sshTarget } from '../../../src/main/ssh/target.ts';
import { passwordsMissing, SshServer, testUser } from '../../harness/sshd.ts';

const isolated = {
  identities: [],
  agent: undefined,
  userKnownHosts: [],
  globalKnownHosts: [],
};

/** A TCP server that does this with each connection. */
async function listener(serve: (socket: net.Socket) => void) {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a machine that cannot be reached', () => {
  it('for want of an address', async () => {
    const target = sshTarget({ ...isolated, host: 'no-such-host.invalid' });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      // A resolver without a network says so in another way.
      message: expect.stringMatching(/no address is known|name server/) as string,
      place: `${testUser}@no-such-host.invalid:22`,
    });
  });

  it('because nothing listens', async () => {
    const closed = await listener(() => undefined);
    await closed[Symbol.asyncDispose]();
    const target = sshTarget({ ...isolated, host: '127.0.0.1', port: closed.port });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: `nothing listens on port ${closed.port} of 127.0.0.1: connection refused`,
    });
  });

  it('because it takes connections and never speaks', async () => {
    await using silent = await listener(() => undefined);
    const target = sshTarget({
      ...isolated,
      host: '127.0.0.1',
      port: silent.port,
      connectTimeoutMs: 200,
    });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: 'it accepts connections, but did not speak SSH within 200 ms',
    });
  });

  it('because what listens speaks something else', async () => {
    await using web = await listener((socket) =>
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    const target = sshTarget({ ...isolated, host: '127.0.0.1', port: web.port });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: expect.stringContaining('no SSH connection') as string,
    });
  });

  it('because it hangs up at once', async () => {
    await using rude = await listener((socket) => socket.destroy());
    const target = sshTarget({ ...isolated, host: '127.0.0.1', port: rude.port });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      next: expect.stringContaining('MaxStartups') as string,
    });
  });

  it('until the caller gives up', async () => {
    await using silent = await listener(() => undefined);
    const controller = new AbortController();
    const target = sshTarget({ ...isolated, host: '127.0.0.1', port: silent.port });
    const opening = SshConnection.open(target, undefined, {
      signal: controller.signal,
    });
    const failed = expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
    controller.abort();
    await failed;
  });
});

it.each([
  { host: '-oProxyCommand=x' },
  { host: 'a b' },
  { host: 'a', port: 0 },
  { host: 'a', user: '' },
  { host: 'a', user: 'x\ny' },
  { host: 'a', hostKeyAlias: '*' },
])('no request is made for the target %j', async (given) => {
  await expect(
    SshConnection.open(sshTarget({ ...isolated, ...given })),
  ).rejects.toMatchObject({
    code: 'SSH_TARGET_INVALID',
    kind: 'input',
  });
});

it('a server that offers only newer algorithms is not taken for an old one', async () => {
  await using modern = await SshServer.start({
    config: ['KexAlgorithms sntrup761x25519-sha512@openssh.com'],
  });
  await expect(SshConnection.open(modern.target())).rejects.toMatchObject({
    code: 'SSH_NO_COMMON_ALGORITHM',
    message: expect.stringMatching(
      /^the server offers only the key exchanges sntrup761x25519-sha512@openssh\.com; the built-in SSH client has .*ecdh-sha2-nistp256/,
    ) as string,
    next: 'The system’s ssh may know them: gradwire nodes edit NAME --transport system.',
  });
  await using macs = await SshServer.start({
    config: ['Ciphers aes128-ctr', 'MACs umac-128-etm@openssh.com'],
  });
  await expect(SshConnection.open(macs.target())).rejects.toMatchObject({
    message: expect.stringMatching(
      /^the server offers only the MACs to the server umac-128-etm@openssh\.com; /,
    ) as string,
  });
});

it('an old server that offers nothing safe gets its own error', async () => {
  await using old = await SshServer.start({
    config: ['KexAlgorithms diffie-hellman-group1-sha1'],
  });
  await expect(SshConnection.open(old.target())).rejects.toMatchObject({
    code: 'SSH_NO_COMMON_ALGORITHM',
    message: expect.stringMatching(
      /^the server offers only the key exchanges diffie-hellman-group1-sha1; /,
    ) as string,
    next: expect.stringContaining('no longer considered safe') as string,
  });
});

describe('an account that talks', () => {
  let noisy: SshServer;
  let connection: SshConnection;

  beforeAll(async () => {
    noisy = await SshServer.start({
      banner: 'Authorised users only!\n',
      shellStart:
        'echo "Welcome $USER, read the news"; echo "quota: 93 %" >&2; stty -a\n',
    });
    connection = await SshConnection.open(noisy.target());
  });
  afterAll(async () => {
    await connection?.close();
    await noisy?.[Symbol.asyncDispose]();
  });

  it('has a banner, which is no output', () => {
    expect(connection.banner).toBe('Authorised users only!\n');
  });

  it('mixes its output with a command’s, but not with a script’s', async () => {
    expect((await connection.run('echo result')).stdout).toMatch(
      /Welcome[^]*\nresult\n$/,
    );
    const result = await runScript(connection, 'echo result; echo trouble >&2; exit 5');
    expect(result).toMatchObject({ stdout: 'result\n', code: 5 });
    expect(result.stderr).toContain('trouble\n');
  });

  it('passes any value of a variable unchanged', async () => {
    const value = `it's "$HOME" \`id\` \\ $(id)\n;exit 9 ü`;
    const { stdout } = await runScript(connection, 'printf %s "$value"', {
      variables: { value },
    });
    expect(stdout).toBe(value);
  });

  it('runs a script that reads its stdin to the end', async () => {
    expect(await runScript(connection, 'cat; echo end')).toMatchObject({
      code: 0,
      stdout: 'end\n',
    });
  });

  it('has no SFTP that could be used, and the connection stays', async () => {
    await using loud = await SshServer.start({
      shellStart: 'echo "Welcome, welcome, welcome"\n',
      sftp: false,
      // Started by the login shell, unlike the one inside sshd.
      config: ['Subsystem sftp /usr/lib/openssh/sftp-server'],
    });
    await using through = await SshConnection.open(loud.target());
    expect(await through.sftp()).toBeUndefined();
    expect((await through.run('exit 4')).code).toBe(4);
  });
});

it('a machine without SFTP has none', async () => {
  await using plain = await SshServer.start({ sftp: false });
  await using connection = await SshConnection.open(plain.target());
  expect(await connection.sftp()).toBeUndefined();
  expect((await connection.run('echo on')).stdout).toBe('on\n');
});

it.each([
  [
    'reads a line',
    'read -r answer\n',
    /a start file of that account reads the shell’s input/,
  ],
  ['reads everything', 'cat >/dev/null\n', /a start file of that account reads/],
  ['sets a PATH without programs', 'PATH=/nope\n', /its shell finds no sh: /],
  ['ends the shell', 'exit 3\n', /it ended with exit code 3 and said nothing/],
  ['says why it ends the shell', 'echo Closed >&2; exit\n', /: Closed$/],
  ['becomes another program', 'exec awk "{ print }"\n', /did not finish the script: /],
])(
  'a start file that %s is told, and no part of a script runs',
  async (_, shellStart, message) => {
    await using server = await SshServer.start({ shellStart });
    await using connection = await SshConnection.open(server.target());
    const mark = path.join(server.directory, 'ran');
    await expect(
      runScript(connection, ': > "$mark$other"', {
        variables: { other: mark, mark: '' },
      }),
    ).rejects.toMatchObject({
      code: 'SSH_SCRIPT_BROKEN',
      message: expect.stringMatching(message) as string,
      next: expect.stringContaining('.bashrc') as string,
    });
    expect(existsSync(mark)).toBe(false);
  },
);

it.skipIf(passwordsMissing() !== undefined)(
  'an account whose password has expired gets the way to change it',
  async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'gradwire-expired-'));
    const [shadow, pam] = ['shadow', 'pam'].map((name) => path.join(directory, name));
    // Changed on day 0: it must be changed now.
    writeFileSync(shadow!, `${testUser}:*:0:0:99999:7:::\n`, { mode: 0o600 });
    const rules = ['auth', 'account'].map((kind) => `${kind} required pam_unix.so`);
    writeFileSync(pam!, [...rules, 'session required pam_permit.so', ''].join('\n'));
    await using server = await SshServer.start({
      config: ['UsePAM yes'],
      mounts: { '/etc/shadow': shadow!, '/etc/pam.d/sshd': pam! },
    });
    await using connection = await SshConnection.open(server.target());
    await expect(runScript(connection, 'echo hello')).rejects.toMatchObject({
      code: 'SSH_PASSWORD_EXPIRED',
      next: expect.stringContaining('Log in with ssh in a terminal') as string,
    });
    rmSync(directory, { recursive: true });
  },
);

it('a banner of any length that ssh2 takes is no obstacle, and a longer one is named', async () => {
  const line = `${'x'.repeat(79)}\n`;
  await using long = await SshServer.start({ banner: line.repeat(400) });
  await using connection = await SshConnection.open(long.target());
  expect((await connection.run('echo on')).stdout).toBe('on\n');
  await using longer = await SshServer.start({ banner: line.repeat(600) });
  await expect(SshConnection.open(longer.target())).rejects.toMatchObject({
    code: 'SSH_PACKET_TOO_LARGE',
    next: expect.stringContaining('--transport system') as string,
  });
});

it('an account without a shell does not run a script, and it shows', async () => {
  await using locked = await SshServer.start({
    forcedCommand: 'echo "No shell for you"',
  });
  await using connection = await SshConnection.open(locked.target());
  await expect(runScript(connection, 'echo hello')).rejects.toMatchObject({
    code: 'SSH_SCRIPT_BROKEN',
    message: 'the remote shell did not finish the script: No shell for you',
  });
});

it('at a server’s limit on sessions an error names it, and open ones continue', async () => {
  await using narrow = await SshServer.start({ config: ['MaxSessions 1'] });
  await using connection = await SshConnection.open(narrow.target());
  const first = await connection.stream('cat');
  await expect(connection.stream('cat')).rejects.toMatchObject({
    code: 'SSH_CHANNEL_REFUSED',
  });
  await expect(connection.shell({ columns: 80, rows: 24 })).rejects.toMatchObject({
    code: 'SSH_CHANNEL_REFUSED',
    next: expect.not.stringContaining('terminal') as string,
  });
  first.end('still here');
  const [chunk] = (await once(first, 'data')) as [Buffer];
  expect(chunk.toString()).toBe('still here');
});

it('terminals that take its sessions are named', async () => {
  await using narrow = await SshServer.start({ config: ['MaxSessions 1'] });
  await using connection = await SshConnection.open(narrow.target());
  const shell = await connection.shell({ columns: 80, rows: 24 });
  await expect(connection.run('true')).rejects.toMatchObject({
    code: 'SSH_CHANNEL_REFUSED',
    next: expect.stringContaining('1 terminal is open on this connection') as string,
  });
  shell.destroy();
  await once(shell, 'close');
  expect(connection.shells).toBe(0);
});

it('a server that is gone without a word is noticed by its silence', async () => {
  await using server = await SshServer.start();
  // A wire that can be cut: both ends stay open, and nothing passes any more.
  const pipes: net.Socket[] = [];
  await using wire = await listener((socket) => {
    const onward = net.connect(server.port, '127.0.0.1');
    onward.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
    pipes.push(socket, onward);
  });
  const connection = await SshConnection.open(
    server.target({
      port: wire.port,
      hostKeyAlias: 'behind-the-wire',
      keepaliveSeconds: 0.1,
      strictHostKeyChecking: 'no',
    }),
  );
  const stream = await connection.stream('cat');
  stream.on('error', () => undefined);
  for (const pipe of pipes) {
    pipe.unpipe();
    pipe.pause();
  }
  expect((await connection.closed).error).toMatchObject({
    code: 'SSH_CONNECTION_LOST',
    message: expect.stringContaining('no sign of life') as string,
  });
  for (const pipe of pipes) pipe.destroy();
});
