/** Ways in of the system's `ssh` at a real sshd: certificates, ProxyCommand and jump hosts. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer, testUser } from '../../harness/sshd.ts';
import { configOf, hostBlock } from './system-host.ts';
import { asks, SystemSite } from './system-site.ts';

let site: SystemSite;
let server: SshServer;
let directory: string;

beforeAll(async () => {
  site = await SystemSite.start();
  ({ server, directory } = site);
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
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
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      next: expect.not.stringContaining('certificate') as string,
    });

    const file = `${key}-cert.pub`;
    for (const [validity, why] of [
      ['20200101000000Z:20210101120000Z', 'expired at 2021-01-01 12:00:00 UTC'],
      [
        '20990101000000Z:20990102000000Z',
        'is valid only from 2099-01-01 00:00:00 UTC on',
      ],
    ] as const) {
      sign(authority, key, ['-n', testUser, '-V', validity]);
      await expect(
        SystemSshConnection.open(found, undefined, { directory }),
      ).rejects.toMatchObject({
        code: 'SSH_AUTH_FAILED',
        message: expect.stringContaining(`${file} ${why}`) as string,
        next: `Get a new certificate: ${file} ${why}.`,
      });
    }
  });

  it(
    'takes a host by its certificate, and by no other authority',
    { tags: 'soak' },
    async () => {
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
    },
  );
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

  it('reports the output of a ProxyCommand that fails', async () => {
    const proxy = `ProxyCommand sh -c 'echo the tunnel is shut >&2; exit 1'`;
    await expect(site.open([proxy])).rejects.toMatchObject({
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

  it(
    'asks nothing for a jump host if no user can answer',
    { tags: 'soak' },
    async () => {
      await using first = await SshServer.start();
      const locked = makeKey(path.join(first.directory, 'locked'), { passphrase: 'x' });
      const blocks = [
        hostBlock('first', first).replace(first.key, locked),
        hostBlock('box', server, ['ProxyJump first']),
      ];
      const configFile = configOf(server, ...blocks);
      const { target } = await resolveTarget('box', {
        configFile,
        transport: 'system',
      });
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
    },
  );
});

it('names a key file that does not exist', async () => {
  const configFile = configOf(server, hostBlock('box', server, ['IdentityFile none']));
  writeFileSync(
    configFile,
    readFileSync(configFile, 'utf8').replace(`IdentityFile ${server.key}\n`, ''),
  );
  const absent = path.join(directory, 'absent');
  const { target } = await resolveTarget('box', {
    configFile,
    transport: 'system',
    identities: [absent],
  });
  await expect(
    SystemSshConnection.open(target, undefined, { directory }),
  ).rejects.toMatchObject({
    code: 'SSH_AUTH_FAILED',
    message: expect.stringContaining(`${absent}: no such file`) as string,
    next: expect.stringContaining(`${absent} does not exist`) as string,
  });
  const another = await resolveTarget('box', {
    configFile,
    transport: 'system',
    identities: [absent, server.key],
  });
  await using lucky = await SystemSshConnection.open(another.target, undefined, {
    directory,
  });
  expect(lucky.notices).toEqual([`the key ${absent} was not offered: no such file`]);
});
