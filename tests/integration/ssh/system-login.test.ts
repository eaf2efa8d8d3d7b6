/**
 * How the system's `ssh` gets in at a real sshd: certificates, ProxyCommand and jump hosts,
 * questions, host keys, passwords.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
} from '../../../src/shared/machines/ssh-question.ts';
import { effort } from '../../harness/effort.ts';
import { makeKey, passwordsMissing, SshServer, testUser } from '../../harness/sshd.ts';
import { configOf, hostBlock, systemTarget } from './system-host.ts';

let server: SshServer;
let directory: string;

beforeAll(async () => {
  server = await SshServer.start();
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-system-'));
});

afterAll(async () => {
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

describe('questions', () => {
  it('asks for a passphrase until it is right, and remembers it', async () => {
    const key = makeKey(path.join(directory, 'locked'), { passphrase: 'open sesame' });
    server.authorize(key);
    const config = configOf(server, hostBlock('box', server)).trim();
    writeFileSync(config, readFileSync(config, 'utf8').replace(server.key, key));
    const { target } = await resolveTarget('box', {
      configFile: config,
      transport: 'system' as const,
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
      code: 'HOST_KEY_UNKNOWN',
      next: expect.stringContaining(flag),
    });
    await expect(open(lines, asks([]), options)).rejects.toMatchObject({
      code: 'HOST_KEY_REFUSED',
    });
    expect(existsSync(ours)).toBe(false);
    const accepts = asks([], 'accept');
    await (await open(lines, accepts, options)).close();
    const { host, port } = server;
    expect(accepts.keys).toEqual([
      {
        host,
        port,
        title: expect.stringContaining(host) as string,
        keyType: 'ssh-ed25519',
        fingerprint,
        reason: 'unknown',
      },
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
    ).rejects.toMatchObject({
      code: 'HOST_KEY_REVOKED',
      message: `box (127.0.0.1) presents a ED25519 key ${server.fingerprint()}, which is revoked in ${file}:1`,
    });
  });

  it('is chosen for a binary list of revoked keys, and obeys it', async () => {
    const key = path.join(directory, 'revoked.pub');
    writeFileSync(key, `${server.hostKey()}\n`);
    const list = path.join(directory, 'revoked.krl');
    execFileSync('ssh-keygen', ['-q', '-k', '-f', list, key]);
    const block = hostBlock('box', server, [`RevokedHostKeys ${list}`]);
    const { target, transport } = await resolveTarget('box', {
      configFile: configOf(server, block),
    });
    expect(transport).toEqual({
      ...{ kind: 'system', reason: `the revocation list ${list}` },
    });
    await expect(
      SystemSshConnection.open(target, asks([], 'accept'), { directory }),
    ).rejects.toMatchObject({ code: 'HOST_KEY_REVOKED' });
    // One that is text is read by the built-in client, too.
    const text = hostBlock('box', server, [`RevokedHostKeys ${key}`]);
    const found = await resolveTarget('box', { configFile: configOf(server, text) });
    expect(found).toMatchObject({
      ...{ target: { revokedHostKeys: key }, transport: { kind: 'builtin' } },
    });
  });

  it('reports an account that is rejected', async () => {
    const key = makeKey(path.join(directory, 'stranger'));
    const config = configOf(server, hostBlock('box', server).replace(server.key, key));
    const { target } = await resolveTarget('box', {
      configFile: config,
      transport: 'system' as const,
    });
    await expect(
      SystemSshConnection.open(target, asks([]), { directory }),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringMatching(/Permission denied: .*publickey/),
    });
  });

  it('reports that nothing listens', async () => {
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

    const kinds = [
      ['password', 'KbdInteractiveAuthentication no', 'password'],
      ['keyboard-interactive', 'PasswordAuthentication no', 'keyboard-interactive'],
    ] as const;
    it.each(kinds.slice(0, effort({ quick: 1, soak: 2 })))(
      'asks for one by %s, once',
      async (method, _, kind) => {
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
        await expect(
          open(lines, undefined, { secrets }, guarded),
        ).rejects.toMatchObject({
          code: 'SSH_AUTH_NEEDED',
        });
        await expect(open(lines, undefined, {}, guarded)).rejects.toMatchObject({
          code: 'SSH_AUTH_NEEDED',
        });
      },
    );
  },
);

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
