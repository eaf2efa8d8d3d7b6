/** Keys and agents as ways to log in, against a real sshd. */
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import type { SshQuestions } from '../../../src/shared/machines/ssh-question.ts';
import { RememberedSecrets } from '../../../src/main/ssh/remembered-secrets.ts';
import type { SshTarget } from '../../../src/main/ssh/target.ts';
import { effort } from '../../harness/effort.ts';
import { makeKey, SshAgent } from '../../harness/ssh-keys.ts';
import { SshServer, testUser } from '../../harness/sshd.ts';
import { answering, whoIs } from './log-ins.ts';

let server: SshServer;
let directory: string;

beforeAll(async () => {
  server = await SshServer.start();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-auth-'));
  return () => {
    rmSync(directory, { recursive: true });
  };
});

describe('a key file', () => {
  it.each(['ed25519', 'ecdsa', 'rsa'] as const)('of type %s lets in', async (type) => {
    const key = makeKey(path.join(directory, 'key'), { type });
    server.authorize(key);
    expect(await whoIs(SshConnection.open(server.target({ identities: [key] })))).toBe(
      testUser,
    );
  });

  it('that the server does not know is refused; the error says what was tried', async () => {
    const key = makeKey(path.join(directory, 'key'));
    await expect(
      SshConnection.open(server.target({ identities: [key] })),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: `the server accepts publickey for ${testUser}; tried publickey (${key})`,
      place: `${testUser}@127.0.0.1:${server.port}`,
    });
  });

  it('that cannot be used is passed over, and told', async () => {
    const absent = path.join(directory, 'absent');
    const shared = path.join(directory, 'shared');
    copyFileSync(server.key, shared);
    chmodSync(shared, 0o644);
    const sk = path.join(directory, 'sk');
    writeFileSync(sk, keyOfType('sk-ssh-ed25519@openssh.com'), { mode: 0o600 });
    const absentToo = path.join(directory, 'id_rsa');
    await using lucky = await SshConnection.open(
      server.target({
        identities: [absent, shared, sk, server.key, absentToo],
        defaultIdentities: [absentToo],
      }),
    );
    expect(lucky.notices).toEqual([
      `the key ${absent} was not offered: no such file`,
      `the key ${shared} was not offered: other users may read it (mode 644)`,
      `the key ${sk} was not offered: the built-in SSH client does not support sk-ssh-ed25519@openssh.com keys`,
    ]);
    await expect(
      SshConnection.open(server.target({ identities: [absent] })),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringContaining(`${absent}: no such file`) as string,
      next: expect.stringContaining(`${absent} does not exist`) as string,
    });
  });

  it('that others may read is not used', async () => {
    const key = path.join(directory, 'key');
    copyFileSync(server.key, key);
    chmodSync(key, 0o644);
    await expect(
      SshConnection.open(server.target({ identities: [key] })),
    ).rejects.toMatchObject({
      code: 'SSH_KEY_UNREADABLE',
      next: expect.stringContaining(`chmod 600 ${key}`) as string,
    });
  });

  it('of a kind that ssh2 does not know is named', async () => {
    const key = path.join(directory, 'sk');
    writeFileSync(key, keyOfType('sk-ssh-ed25519@openssh.com'), { mode: 0o600 });
    await expect(
      SshConnection.open(server.target({ identities: [key] })),
    ).rejects.toMatchObject({
      code: 'SSH_KEY_UNSUPPORTED',
      message: `cannot use ${key}: the built-in SSH client does not support sk-ssh-ed25519@openssh.com keys`,
    });
  });
});

describe.each(effort({ quick: ['PEM'], soak: ['RFC4716', 'PEM'] } as const))(
  'an encrypted key in format %s',
  (format) => {
    const passphrase = 'correct horse';
    let key: string;
    const open = (questions?: SshQuestions, secrets?: RememberedSecrets) =>
      SshConnection.open(server.target({ identities: [key] }), questions, { secrets });

    beforeEach(() => {
      key = makeKey(path.join(directory, 'key'), { type: 'rsa', passphrase, format });
      server.authorize(key);
    });

    it('asks for its passphrase, again when it is wrong', async () => {
      const questions = answering(['wrong'], [''], [passphrase]);
      expect(await whoIs(open(questions))).toBe(testUser);
      expect(questions.asked[0]).toEqual({
        host: '127.0.0.1',
        port: server.port,
        user: testUser,
        kind: 'passphrase',
        prompts: [{ text: `Passphrase for key ${key}:`, echo: false }],
      });
      expect(questions.asked.map(({ instruction }) => instruction)).toEqual([
        undefined,
        'That passphrase was wrong.',
        'That passphrase was wrong.',
      ]);
    });

    it('is given up after three wrong ones', async () => {
      const questions = answering(['a'], ['b'], ['c'], [passphrase]);
      await expect(open(questions)).rejects.toMatchObject({
        code: 'SSH_AUTH_FAILED',
        message: expect.stringContaining(`wrong passphrase for ${key}`) as string,
      });
      expect(questions.asked).toHaveLength(3);
    });

    it('ends the attempt when the question is cancelled', async () => {
      await expect(open(answering())).rejects.toMatchObject({
        code: 'SSH_AUTH_CANCELLED',
      });
    });

    it('needs a user to ask, or a remembered passphrase', async () => {
      await expect(open()).rejects.toMatchObject({
        code: 'SSH_AUTH_NEEDED',
        message:
          'the log-in needs a passphrase, but Gradwire cannot prompt for input now',
      });
      const secrets = new RememberedSecrets();
      await (await open(answering([passphrase]), secrets)).close();
      expect(await whoIs(open(undefined, secrets))).toBe(testUser);
    });

    it('that the server does not know is not asked for', async () => {
      const stranger = makeKey(path.join(directory, 'stranger'), {
        passphrase,
        format: 'RFC4716',
      });
      const questions = answering([passphrase]);
      const target = server.target({ identities: [stranger] });
      await expect(SshConnection.open(target, questions)).rejects.toMatchObject({
        code: 'SSH_AUTH_FAILED',
      });
      expect(questions.asked).toEqual([]);
    });
  },
);

describe('an agent', () => {
  it.each(['ed25519', 'rsa'] as const)('signs with its %s key', async (type) => {
    const key = makeKey(path.join(directory, 'key'), { type });
    server.authorize(key);
    await using agent = await SshAgent.start([key]);
    const target = server.target({ identities: [], agent: agent.socket });
    expect(await whoIs(SshConnection.open(target))).toBe(testUser);
  });

  it('is asked for the configured keys alone where only they may be used', async () => {
    const key = makeKey(path.join(directory, 'key'));
    server.authorize(key);
    await using agent = await SshAgent.start([key]);
    const target = server.target({
      identities: [],
      identitiesOnly: true,
      agent: agent.socket,
    });
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringContaining('nothing to try') as string,
    });
    // The private part is with the agent: FILE.pub says which of its keys is meant.
    rmSync(key);
    expect(await whoIs(SshConnection.open({ ...target, identities: [key] }))).toBe(
      testUser,
    );
  });

  it('that is not there is named when nothing else could be tried', async () => {
    const agent = path.join(directory, 'no-agent');
    await expect(
      SshConnection.open(server.target({ identities: [], agent })),
    ).rejects.toMatchObject({ code: 'SSH_AGENT_UNREACHABLE', place: agent });
    expect(await whoIs(SshConnection.open(server.target({ agent })))).toBe(testUser);
  });

  it('that is locked shows no keys; the error says that it may be', async () => {
    const key = makeKey(path.join(directory, 'key'));
    server.authorize(key);
    await using agent = await SshAgent.start([key]);
    const target = server.target({ identities: [], agent: agent.socket });
    agent.lock('secret');
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      next: expect.stringContaining('locked (ssh-add -X unlocks it)') as string,
    });
    agent.unlock('secret');
    expect(await whoIs(SshConnection.open(target))).toBe(testUser);
  });

  it('with more keys than the server will try comes after the key that is named', async () => {
    const keys = Array.from({ length: 7 }, (_, index) =>
      makeKey(path.join(directory, `key${index}`)),
    );
    await using strict = await SshServer.start({ config: ['MaxAuthTries 3'] });
    await using agent = await SshAgent.start(keys);
    const { socket } = agent;
    const lets = (given: Partial<SshTarget>): Promise<string> =>
      whoIs(SshConnection.open(strict.target({ agent: socket, ...given })));
    expect(await lets({})).toBe(testUser);
    // One of the agent's own, named by its public half.
    strict.authorize(keys[6]!);
    expect(await lets({ identities: [keys[6]!] })).toBe(testUser);
    rmSync(keys[6]!);
    expect(await lets({ identities: [keys[6]!] })).toBe(testUser);
    // Encrypted ones are asked for only if the server takes them.
    const locked = makeKey(path.join(directory, 'locked'), { passphrase: 'secret' });
    expect(await lets({ identities: [locked, strict.key] })).toBe(testUser);
    // Default keys, which nobody named, come after the agent's; the error says what to do.
    await expect(
      lets({ identities: [strict.key], defaultIdentities: [strict.key] }),
    ).rejects.toMatchObject({
      code: 'SSH_AUTH_FAILED',
      message: expect.stringContaining('Too many authentication failures') as string,
      next: expect.stringMatching(/--identity FILE.*--identities-only yes/) as string,
    });
  });
});

describe('a server that wants two keys', () => {
  it.each(effort({ quick: ['files'], soak: ['files', 'an agent'] } as const))(
    'gets both, from %s',
    async (where) => {
      await using strict = await SshServer.start({
        config: ['AuthenticationMethods publickey,publickey'],
      });
      const types = ['rsa', 'ed25519'] as const;
      const keys = types.map((type) => makeKey(path.join(directory, type), { type }));
      keys.forEach((key) => {
        strict.authorize(key);
      });
      await using agent = await SshAgent.start(keys);
      const target = strict.target(
        where === 'files'
          ? { identities: keys }
          : { identities: [], agent: agent.socket },
      );
      expect(await whoIs(SshConnection.open(target))).toBe(testUser);
      await expect(
        SshConnection.open({ ...target, agent: undefined, identities: [keys[0]!] }),
      ).rejects.toMatchObject({ code: 'SSH_AUTH_FAILED' });
    },
  );
});

/** A private key file in OpenSSH's format whose head says that it is of this type. */
function keyOfType(type: string): string {
  const field = (bytes: Buffer | string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, Buffer.from(bytes)]);
  };
  const publicBlob = Buffer.concat([
    field(type),
    field(Buffer.alloc(32)),
    field('ssh:'),
  ]);
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(field),
    Buffer.from([0, 0, 0, 1]),
    field(publicBlob),
    field(Buffer.alloc(64)),
  ]);
  const lines = body.toString('base64').replace(/.{70}/g, '$&\n');
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`;
}
