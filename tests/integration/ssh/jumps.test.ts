/** A machine behind others: every hop has its own key check and its own log-in. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveTarget } from '../../../src/main/ssh/config/resolve-target.ts';
import { SshConnection } from '../../../src/main/ssh/connection.ts';
import { SystemSshConnection } from '../../../src/main/ssh/system-connection.ts';
import type {
  HostKeyQuestion,
  SecretsQuestion,
} from '../../../src/shared/machines/ssh-question.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer } from '../../harness/sshd.ts';
import { configOf, hostBlock } from './system-host.ts';

let door: SshServer;
let inner: SshServer;

beforeAll(async () => {
  [door, inner] = await Promise.all([SshServer.start(), SshServer.start()]);
});

afterAll(async () => {
  await door?.[Symbol.asyncDispose]();
  await inner?.[Symbol.asyncDispose]();
});

const whoServes = async (connection: SshConnection): Promise<string> =>
  (await connection.run('echo $HOME')).stdout.trim();

it('is reached through one host, and through two', async () => {
  await using once = await SshConnection.open(inner.target({ jumps: [door.target()] }));
  expect(await whoServes(once)).toBe(inner.home);
  expect(door.sessions()).not.toEqual([]);
  await using twice = await SshConnection.open(
    inner.target({ jumps: [door.target(), inner.target()] }),
  );
  expect(await whoServes(twice)).toBe(inner.home);
});

it(
  'is reached through three, by either client, and each of them is named when it goes',
  { tags: 'soak' },
  async () => {
    await using third = await SshServer.start();
    const chain = [door, inner, third];
    await using end = await SshServer.start();
    const configFile = configOf(
      end,
      ...chain.map((server, index) => hostBlock(`hop${index}`, server)),
      hostBlock('box', end, ['ProxyJump hop0,hop1,hop2']),
    );
    const { target: bySystem } = await resolveTarget('box', {
      configFile,
      transport: 'system',
    });
    const { target, transport } = await resolveTarget('box', { configFile });
    expect(transport.kind).toBe('builtin');
    {
      await using connection = await SystemSshConnection.open(bySystem);
      expect((await connection.run('echo $HOME')).stdout.trim()).toBe(end.home);
      await third.cutSessions();
      expect((await connection.closed).error).toMatchObject({
        code: 'SSH_CONNECTION_LOST',
      });
    }
    for (const lost of chain) {
      await using connection = await SshConnection.open(target);
      expect(await whoServes(connection)).toBe(end.home);
      await lost.cutSessions();
      expect((await connection.closed).error).toMatchObject({
        code: 'SSH_CONNECTION_LOST',
        place: expect.stringContaining(`:${lost.port}`) as string,
      });
    }
    await third.stop();
    await expect(SshConnection.open(target)).rejects.toMatchObject({
      code: 'SSH_UNREACHABLE',
      message: expect.stringContaining(`:${inner.port} cannot reach it`) as string,
      place: expect.stringContaining(`:${third.port}`) as string,
    });
  },
);

it('is checked for itself, and so is the host before it', async () => {
  const asked: HostKeyQuestion[] = [];
  const questions = {
    hostKey: (question: HostKeyQuestion) => {
      asked.push(question);
      return Promise.resolve('accept' as const);
    },
    secrets: () => Promise.resolve(undefined),
  };
  const unknown = { strictHostKeyChecking: 'ask', userKnownHosts: [] } as const;
  await using connection = await SshConnection.open(
    inner.target({ ...unknown, jumps: [door.target({ ...unknown, alias: 'door' })] }),
    questions,
  );
  expect(connection.isOpen).toBe(true);
  expect(asked.map(({ title, fingerprint }) => [title, fingerprint])).toEqual([
    ['the jump host door (127.0.0.1)', door.fingerprint()],
    ['127.0.0.1', inner.fingerprint()],
  ]);
  expect(asked.map(({ port }) => port)).toEqual([door.port, inner.port]);
});

it('with a changed key is refused, whichever hop it is', async () => {
  const wrong = path.join(door.directory, 'wrong');
  writeFileSync(
    wrong,
    `[127.0.0.1]:${inner.port} ${door.hostKey()}\n[127.0.0.1]:${door.port} ${inner.hostKey()}\n`,
  );
  await expect(
    SshConnection.open(
      inner.target({
        jumps: [door.target({ userKnownHosts: [wrong], alias: 'door' })],
      }),
    ),
  ).rejects.toMatchObject({
    code: 'HOST_KEY_CHANGED',
    message: expect.stringMatching(
      /^the jump host door \(127\.0\.0\.1\) presents/,
    ) as string,
    place: expect.stringContaining(`:${door.port}`) as string,
  });
  await expect(
    SshConnection.open(
      inner.target({ userKnownHosts: [wrong], jumps: [door.target()] }),
    ),
  ).rejects.toMatchObject({
    code: 'HOST_KEY_CHANGED',
    place: expect.stringContaining(`:${inner.port}`) as string,
  });
});

it('gets no key that is meant for the host before it', async () => {
  const key = makeKey(path.join(door.directory, 'for-the-door'));
  door.authorize(key);
  await using through = await SshConnection.open(
    inner.target({ jumps: [door.target({ identities: [key] })] }),
  );
  expect(await whoServes(through)).toBe(inner.home);
  await expect(
    SshConnection.open(inner.target({ identities: [key], jumps: [door.target()] })),
  ).rejects.toMatchObject({
    code: 'SSH_AUTH_FAILED',
    place: expect.stringContaining(`:${inner.port}`) as string,
  });
});

it('says of each question whether it comes from the way', async () => {
  const locked = (server: SshServer, name: string): string => {
    const key = makeKey(path.join(door.directory, name), { passphrase: name });
    server.authorize(key);
    return key;
  };
  const asked: SecretsQuestion[] = [];
  const questions = {
    secrets: (question: SecretsQuestion) => {
      asked.push(question);
      return Promise.resolve([asked.length === 1 ? 'outer' : 'within']);
    },
  };
  const jumps = [door.target({ identities: [locked(door, 'outer')] })];
  const target = inner.target({ identities: [locked(inner, 'within')], jumps });
  await using connection = await SshConnection.open(target, questions);
  expect(connection.isOpen).toBe(true);
  expect(asked.map(({ port, jump }) => [port, jump])).toEqual([
    [door.port, true],
    [inner.port, undefined],
  ]);
});

it('that the jump host cannot reach, or may not, gets an error that says so', async () => {
  const target = inner.target({ port: 1, jumps: [door.target()] });
  await expect(SshConnection.open(target)).rejects.toMatchObject({
    code: 'SSH_UNREACHABLE',
    message: expect.stringContaining(`:${door.port} cannot reach it`) as string,
    place: expect.stringMatching(/:1$/) as string,
  });
  await using closed = await SshServer.start({ forwarding: false });
  await expect(
    SshConnection.open(inner.target({ jumps: [closed.target()] })),
  ).rejects.toMatchObject({ code: 'SSH_UNREACHABLE' });
});

it('is lost when the host before it is, and that host is named', async () => {
  await using first = await SshServer.start();
  const connection = await SshConnection.open(
    inner.target({ jumps: [first.target()] }),
  );
  const running = expect(
    connection.run('while echo tick; do sleep 0.05; done', { maxBytes: 1e9 }),
  ).rejects.toMatchObject({ code: 'SSH_CONNECTION_LOST' });
  await first.cutSessions();
  expect((await connection.closed).error).toMatchObject({
    code: 'SSH_CONNECTION_LOST',
    place: expect.stringContaining(`:${first.port}`) as string,
  });
  await running;
});

it('leaves no connection behind on any hop', async () => {
  const connection = await SshConnection.open(inner.target({ jumps: [door.target()] }));
  await connection.close();
  await expect.poll(() => [...door.sessions(), ...inner.sessions()]).toEqual([]);
});
