/** Questions of the system's `ssh` at a real sshd: passphrases, host keys, passwords. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { RememberedSecrets } from '../../../src/main/ssh/remembered-secrets.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import { effort } from '../../harness/effort.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { passwordsMissing, SshServer, testUser } from '../../harness/sshd.ts';
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
    await expect(site.open(lines, undefined, options)).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
      next: expect.stringContaining(flag),
    });
    await expect(site.open(lines, asks([]), options)).rejects.toMatchObject({
      code: 'HOST_KEY_REFUSED',
    });
    expect(existsSync(ours)).toBe(false);
    const accepts = asks([], 'accept');
    await (await site.open(lines, accepts, options)).close();
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
    await (await site.open(lines, undefined, options)).close();
  });

  it('takes a key that was named, under StrictHostKeyChecking=yes too', async () => {
    const lines = ['UserKnownHostsFile none', 'StrictHostKeyChecking yes'];
    const acceptedHostKeys = path.join(directory, 'named');
    const other = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    await expect(
      site.open(lines, asks([], 'accept'), { confirmedHostKeys: [other] }),
    ).rejects.toMatchObject({ code: 'HOST_KEY_UNKNOWN' });
    const confirmedHostKeys = [server.fingerprint()];
    await (
      await site.open(lines, undefined, { confirmedHostKeys, acceptedHostKeys })
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
      const opening = site.open(lines, asks([], 'accept'), {
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
      site.open([`UserKnownHostsFile ${file}`], asks([], 'accept')),
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
      kind: 'system',
      reason: `the revocation list ${list}`,
    });
    await expect(
      SystemSshConnection.open(target, asks([], 'accept'), { directory }),
    ).rejects.toMatchObject({ code: 'HOST_KEY_REVOKED' });
    // One that is text is read by the built-in client, too.
    const text = hostBlock('box', server, [`RevokedHostKeys ${key}`]);
    const found = await resolveTarget('box', { configFile: configOf(server, text) });
    expect(found).toMatchObject({
      target: { revokedHostKeys: key },
      transport: { kind: 'builtin' },
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
    await expect(site.open(['Port 1'])).rejects.toMatchObject({
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
        const opened = await site.open(lines, questions, { secrets }, guarded);
        expect((await opened.run('echo in')).stdout).toBe('in\n');
        await opened.close();
        expect(questions.secretsAsked.map((asked) => asked.kind)).toEqual([kind, kind]);
        // Made again without anybody to ask.
        await (await site.open(lines, undefined, { secrets }, guarded)).close();
        secrets.keepPassword(`${testUser}@127.0.0.1:${guarded.port}`, 'outdated');
        await expect(
          site.open(lines, undefined, { secrets }, guarded),
        ).rejects.toMatchObject({
          code: 'SSH_AUTH_NEEDED',
        });
        await expect(site.open(lines, undefined, {}, guarded)).rejects.toMatchObject({
          code: 'SSH_AUTH_NEEDED',
        });
      },
    );
  },
);
