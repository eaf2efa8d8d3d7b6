/** Host keys against a real sshd: what is accepted, what is kept, and what is refused. */
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import type { SshOpenOptions } from '../../../src/main/ssh/remote-connection.ts';
import type {
  HostKeyQuestion,
  SshQuestions,
} from '../../../src/shared/machines/ssh-question.ts';
import type { SshTarget } from '../../../src/main/ssh/target.ts';
import { SshServer } from '../../harness/sshd.ts';

let server: SshServer;
let directory: string;
/** The user's known_hosts and ours; neither is there at first. */
let users: string;
let ours: string;

beforeAll(async () => {
  server = await SshServer.start({ hostKeys: ['ed25519', 'ecdsa'] });
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gradwire-host-keys-'));
  users = path.join(directory, 'users');
  ours = path.join(directory, 'ours');
  return () => {
    rmSync(directory, { recursive: true });
  };
});

const name = () => `[127.0.0.1]:${server.port}`;

function asks(
  answer: 'accept' | 'refuse',
): SshQuestions & { asked: HostKeyQuestion[] } {
  const asked: HostKeyQuestion[] = [];
  return {
    asked,
    hostKey: (question) => {
      asked.push(question);
      return Promise.resolve(answer);
    },
    secrets: () => Promise.resolve(undefined),
  };
}

/** Connects, says hello, and ends. */
async function visit(
  given: Partial<SshTarget>,
  questions?: SshQuestions,
  options: SshOpenOptions = {},
): Promise<string> {
  await using connection = await SshConnection.open(
    server.target({ userKnownHosts: [users], ...given }),
    questions,
    { acceptedHostKeys: ours, ...options },
  );
  return (await connection.run('echo hello')).stdout;
}

describe('an unknown key', () => {
  it('is refused if no user can be asked; the error names the next step', async () => {
    const fingerprint = server.fingerprint();
    await expect(visit({ strictHostKeyChecking: 'ask' })).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
      message: expect.stringContaining(fingerprint) as string,
      place: `${server.target().user}@127.0.0.1:${server.port}`,
      next: expect.stringContaining(`--accept-host-key ${fingerprint}`) as string,
    });
    expect(existsSync(ours)).toBe(false);
  });

  it('is asked for once, then known; the user’s own files stay as they are', async () => {
    const questions = asks('accept');
    expect(await visit({ strictHostKeyChecking: 'ask' }, questions)).toBe('hello\n');
    expect(questions.asked).toEqual([
      {
        host: '127.0.0.1',
        port: server.port,
        title: '127.0.0.1',
        keyType: 'ssh-ed25519',
        fingerprint: server.fingerprint(),
        reason: 'unknown',
      },
    ]);
    expect(await visit({ strictHostKeyChecking: 'yes' }, questions)).toBe('hello\n');
    expect(questions.asked).toHaveLength(1);
    expect(readFileSync(ours, 'utf8')).toBe(`${name()} ${server.hostKey()}\n`);
    expect(statSync(ours).mode & 0o777).toBe(0o600);
    expect(existsSync(users)).toBe(false);
  });

  it('that the user refuses is refused, and not kept', async () => {
    await expect(
      visit({ strictHostKeyChecking: 'ask' }, asks('refuse')),
    ).rejects.toMatchObject({ code: 'HOST_KEY_REFUSED' });
    expect(existsSync(ours)).toBe(false);
  });

  it('is taken and kept under accept-new', async () => {
    writeFileSync(ours, '# begun by hand');
    await visit({ strictHostKeyChecking: 'accept-new' });
    expect(readFileSync(ours, 'utf8')).toBe(
      `# begun by hand\n${name()} ${server.hostKey()}\n`,
    );
  });

  it('is taken when its fingerprint was confirmed, and no other', async () => {
    const other = server.fingerprint('ecdsa');
    await expect(
      visit({}, undefined, { confirmedHostKeys: [other] }),
    ).rejects.toMatchObject({
      code: 'HOST_KEY_UNKNOWN',
    });
    const confirmedHostKeys = [server.fingerprint()];
    expect(await visit({}, undefined, { confirmedHostKeys })).toBe('hello\n');
  });

  it('that cannot be kept is an error', async () => {
    const acceptedHostKeys = path.join(directory, 'nowhere', 'known_hosts');
    await expect(
      visit({ strictHostKeyChecking: 'accept-new' }, undefined, { acceptedHostKeys }),
    ).rejects.toMatchObject({ code: 'HOST_KEY_NOT_SAVED', place: acceptedHostKeys });
  });
});

it.each(['yes', 'ask', 'accept-new', 'no'] as const)(
  'a changed key is refused under %s, and nobody is asked',
  async (strictHostKeyChecking) => {
    const wrong = await SshServer.start();
    try {
      writeFileSync(users, `${name()} ${wrong.hostKey()}\n`);
    } finally {
      await wrong[Symbol.asyncDispose]();
    }
    const questions = asks('accept');
    await expect(
      visit({ strictHostKeyChecking }, questions, {
        confirmedHostKeys: [server.fingerprint()],
      }),
    ).rejects.toMatchObject({
      code: 'HOST_KEY_CHANGED',
      message: expect.stringContaining(`${users}:1`) as string,
    });
    expect(questions.asked).toEqual([]);
    expect(existsSync(ours)).toBe(false);
  },
);

it('a reinstalled machine is not mistaken for the known one', async () => {
  await using other = await SshServer.start();
  const connect = () => SshConnection.open(other.target({ userKnownHosts: [users] }));
  writeFileSync(users, readFileSync(other.knownHosts));
  await (await connect()).close();
  other.makeHostKey('ed25519');
  await other.restart();
  await expect(connect()).rejects.toMatchObject({ code: 'HOST_KEY_CHANGED' });
});

it('a key in the list of RevokedHostKeys is refused, known or new', async () => {
  const list = path.join(directory, 'revoked');
  writeFileSync(list, `# gone\n\n${server.hostKey()} lost in May\n`);
  for (const [checking, known] of [
    ['yes', `${name()} ${server.hostKey()}\n`],
    ['accept-new', ''],
  ] as const) {
    writeFileSync(users, known);
    await expect(
      visit({ strictHostKeyChecking: checking, revokedHostKeys: list }),
    ).rejects.toMatchObject({
      code: 'HOST_KEY_REVOKED',
      message: expect.stringContaining(`${list}:3`) as string,
    });
  }
  expect(existsSync(ours)).toBe(false);
  writeFileSync(list, `${server.hostKey('ecdsa')}\n`);
  expect(
    await visit({ strictHostKeyChecking: 'accept-new', revokedHostKeys: list }),
  ).toBe('hello\n');
  // As with OpenSSH.
  await expect(visit({ revokedHostKeys: `${list}.gone` })).rejects.toMatchObject({
    code: 'HOST_KEYS_UNCHECKED',
  });
});

it('a revoked key is refused although it is known', async () => {
  writeFileSync(
    users,
    `${name()} ${server.hostKey()}\n@revoked * ${server.hostKey()}\n`,
  );
  await expect(visit({})).rejects.toMatchObject({
    code: 'HOST_KEY_REVOKED',
    message: expect.stringContaining(`${users}:2`) as string,
  });
});

it('the type of key that is known is the one that is negotiated', async () => {
  writeFileSync(users, `${name()} ${server.hostKey('ecdsa')}\n`);
  expect(await visit({})).toBe('hello\n');
});

it('a server that has lost the known type is refused, or asked about', async () => {
  await using one = await SshServer.start({ hostKeys: ['ed25519'] });
  writeFileSync(users, `[127.0.0.1]:${one.port} ${server.hostKey('ecdsa')}\n`);
  const target = one.target({
    userKnownHosts: [users],
    strictHostKeyChecking: 'accept-new',
  });
  await expect(SshConnection.open(target)).rejects.toMatchObject({
    code: 'HOST_KEY_OTHER_TYPE',
  });
  const questions = asks('refuse');
  await expect(
    SshConnection.open({ ...target, strictHostKeyChecking: 'ask' }, questions),
  ).rejects.toMatchObject({ code: 'HOST_KEY_REFUSED' });
  expect(questions.asked[0]).toMatchObject({ reason: 'other-type' });
});

it('keys stand under the alias where there is one', async () => {
  writeFileSync(users, `cluster ${server.hostKey()}\n`);
  expect(await visit({ hostKeyAlias: 'cluster' })).toBe('hello\n');
});

it('lines that are not understood are skipped and reported', async () => {
  writeFileSync(users, `nonsense\n${name()} ${server.hostKey()}\n`);
  await using connection = await SshConnection.open(
    server.target({ userKnownHosts: [users] }),
  );
  expect(connection.notices).toEqual([`${users}:1: not HOSTS TYPE KEY`]);
});

it('a file that cannot be read is reported, and its keys are unknown', async () => {
  // Root may read everything: a directory is what even root cannot.
  await expect(visit({ userKnownHosts: [directory] })).rejects.toMatchObject({
    code: 'HOST_KEY_UNKNOWN',
  });
});
