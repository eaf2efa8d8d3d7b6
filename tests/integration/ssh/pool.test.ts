/** One connection for all who need a machine, and secrets that are asked for once. */
import { once } from 'node:events';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SshPool } from '../../../src/main/ssh/pool.ts';
import type { SshTarget } from '../../../src/main/ssh/target.ts';
import type { SshQuestions } from '../../../src/shared/machines/ssh-question.ts';
import { makeKey } from '../../harness/ssh-keys.ts';
import { SshServer } from '../../harness/sshd.ts';

const passphrase = 'correct horse';
let server: SshServer;
let locked: string;

beforeAll(async () => {
  server = await SshServer.start();
  locked = makeKey(path.join(server.directory, 'locked'), { passphrase });
  server.authorize(locked);
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

function answering(): SshQuestions & { count: number } {
  return {
    count: 0,
    hostKey: () => Promise.resolve('refuse'),
    secrets() {
      this.count++;
      return Promise.resolve([passphrase]);
    },
  };
}

it('callers at the same time share one connection and one question', async () => {
  await using pool = new SshPool();
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const [a, b] = await Promise.all([
    pool.acquire(target, { questions }),
    pool.acquire(target, { questions }),
  ]);
  expect(a.connection).toBe(b.connection);
  expect((await pool.acquire(target)).connection).toBe(a.connection);
  expect(questions.count).toBe(1);
});

it('a further connection is made without a question, and retired with the first', async () => {
  await using pool = new SshPool();
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const first = await pool.acquire(target, { questions });
  const second = await pool.acquire(target, { further: 1 });
  expect(second.connection).not.toBe(first.connection);
  expect((await pool.acquire(target, { further: 1 })).connection).toBe(
    second.connection,
  );
  expect(questions.count).toBe(1);
  pool.retire(target);
  for (const further of [0, 1]) {
    await expect(pool.acquire(target, { further })).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
    });
  }
  expect((await second.connection.run('echo held')).stdout).toBe('held\n');
});

it('a lost connection is made again without a question', async () => {
  await using pool = new SshPool();
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const first = await pool.acquire(target, { questions });
  await server.cutSessions();
  await first.connection.closed;
  const second = await pool.acquire(target);
  expect(second.connection).not.toBe(first.connection);
  expect((await second.connection.run('echo again')).stdout).toBe('again\n');
  expect(questions.count).toBe(1);
});

it('a connection and its secrets are dropped after a while without use', async () => {
  await using pool = new SshPool({ idleMs: 10 });
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const lease = await pool.acquire(target, { questions });
  lease[Symbol.dispose]();
  expect(await lease.connection.closed).toEqual({ error: undefined });
  await expect(pool.acquire(target)).rejects.toMatchObject({ code: 'SSH_AUTH_NEEDED' });
});

it('a connection stays while it is held', async () => {
  await using pool = new SshPool({ idleMs: 1 });
  const first = await pool.acquire(server.target());
  const second = await pool.acquire(server.target());
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await second.connection.run('echo here')).stdout).toBe('here\n');
});

it('an attempt that could not ask a user is repeated for a caller that can', async () => {
  await using pool = new SshPool();
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const background = pool.acquire(target);
  const failed = expect(background).rejects.toMatchObject({ code: 'SSH_AUTH_NEEDED' });
  const lease = await pool.acquire(target, { questions });
  await failed;
  expect(lease.connection.isOpen).toBe(true);
});

it('who gives up does not end the attempt of another', async () => {
  await using pool = new SshPool();
  const controller = new AbortController();
  const open: ((answers: readonly string[]) => void)[] = [];
  const questions: SshQuestions = {
    hostKey: () => Promise.resolve('refuse'),
    secrets: () => new Promise((resolve) => open.push(resolve)),
  };
  const target = server.target({ identities: [locked] });
  const first = pool.acquire(target, { questions, signal: controller.signal });
  const second = pool.acquire(target, { questions });
  const failed = expect(first).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => open.length).toBe(1);
  controller.abort();
  await failed;
  open[0]!([passphrase]);
  expect((await second).connection.isOpen).toBe(true);
  expect(open).toHaveLength(1);
});

it('an attempt is abandoned when no caller waits for it any more', async () => {
  await using pool = new SshPool();
  const controller = new AbortController();
  let withdrawn: Promise<unknown> | undefined;
  const questions: SshQuestions = {
    hostKey: () => Promise.resolve('refuse'),
    secrets: (_, signal) => {
      withdrawn = once(signal!, 'abort');
      return new Promise(() => undefined);
    },
  };
  const target = server.target({ identities: [locked] });
  const only = pool.acquire(target, { questions, signal: controller.signal });
  const failed = expect(only).rejects.toMatchObject({ code: 'ABORTED' });
  await expect.poll(() => withdrawn !== undefined).toBe(true);
  controller.abort();
  await failed;
  await withdrawn;
});

it('its end closes everything', async () => {
  const pool = new SshPool();
  const { connection } = await pool.acquire(server.target());
  await pool[Symbol.asyncDispose]();
  expect(await connection.closed).toEqual({ error: undefined });
  await expect.poll(() => server.sessions()).toEqual([]);
});

it('a retired target’s connection is no longer handed out', async () => {
  await using pool = new SshPool();
  const questions = answering();
  const target = server.target({ identities: [locked] });
  const held = await pool.acquire(target, { questions });
  pool.retire(target);
  // Who has it keeps it, to the end.
  expect((await held.connection.run('echo here')).stdout).toBe('here\n');
  await expect(pool.acquire(target)).rejects.toMatchObject({ code: 'SSH_AUTH_NEEDED' });
  const next = await pool.acquire(target, { questions });
  expect(next.connection).not.toBe(held.connection);
  expect(questions.count).toBe(2);
  held[Symbol.dispose]();
  expect(await held.connection.closed).toEqual({ error: undefined });
  expect(next.connection.isOpen).toBe(true);
});

it('retiring ends an attempt with its question, and closes unheld connections', async () => {
  await using pool = new SshPool();
  const asked = Promise.withResolvers<AbortSignal | undefined>();
  const questions: SshQuestions = {
    hostKey: () => Promise.resolve('refuse'),
    secrets: (_, signal) => {
      asked.resolve(signal);
      return new Promise(() => undefined);
    },
  };
  const target = server.target({ identities: [locked] });
  const opening = pool.acquire(target, { questions });
  const signal = await asked.promise;
  pool.retire(target);
  await expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
  expect(signal?.aborted).toBe(true);

  const other = server.target();
  const lease = await pool.acquire(other);
  lease[Symbol.dispose]();
  pool.retire(other);
  expect(await lease.connection.closed).toEqual({ error: undefined });
});

describe('behind a jump host', () => {
  const logins = (one: SshServer): number =>
    one.log.split('Accepted publickey').length - 1;
  const openDoor = async (): Promise<SshServer> => {
    const door = await SshServer.start();
    door.authorize(locked);
    return door;
  };
  /** Two machines to the pool, although one server is both. */
  const behind = (door: SshServer): readonly [SshTarget, SshTarget] => {
    const jumps = [door.target({ identities: [locked] })];
    return [server.target({ jumps }), server.target({ jumps, keepaliveSeconds: 6 })];
  };

  it('two machines log in there once, with one question', async () => {
    await using door = await openDoor();
    const targets = behind(door);
    await using pool = new SshPool();
    const questions = answering();
    const leases = await Promise.all(
      targets.map((target) => pool.acquire(target, { questions })),
    );
    expect(leases[0]!.connection).not.toBe(leases[1]!.connection);
    expect((await leases[1]!.connection.run('echo here')).stdout).toBe('here\n');
    // The jump host itself is a machine, too.
    const itself = await pool.acquire(targets[0].jumps[0]!);
    expect((await itself.connection.run('echo $HOME')).stdout).toBe(`${door.home}\n`);
    expect([logins(door), questions.count]).toEqual([1, 1]);

    // It is lost for all, by name, and made again for all, once, without a question.
    await door.cutSessions();
    const ends = await Promise.all(leases.map(({ connection }) => connection.closed));
    expect(ends.map(({ error }) => error?.place)).toEqual(
      [1, 2].map(() => expect.stringContaining(`:${door.port}`) as string),
    );
    const again = await Promise.all(targets.map((target) => pool.acquire(target)));
    expect((await again[0]!.connection.run('echo back')).stdout).toBe('back\n');
    expect([logins(door), questions.count]).toEqual([2, 1]);
  });

  it('one that closes leaves it to the other; without any it is forgotten', async () => {
    await using door = await openDoor();
    const targets = behind(door);
    await using pool = new SshPool({ idleMs: 1 });
    const questions = answering();
    const [one, two] = await Promise.all(
      targets.map((target) => pool.acquire(target, { questions })),
    );
    one![Symbol.dispose]();
    expect(await one!.connection.closed).toEqual({ error: undefined });
    expect((await two!.connection.run('echo still')).stdout).toBe('still\n');
    two![Symbol.dispose]();
    await expect.poll(() => door.sessions()).toEqual([]);
    await expect(pool.acquire(targets[0])).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
      place: expect.stringContaining(`:${door.port}`) as string,
    });
  });

  it('retiring the only one forgets it, with what was typed', async () => {
    await using door = await openDoor();
    const targets = behind(door);
    await using pool = new SshPool();
    const questions = answering();
    const lease = await pool.acquire(targets[0], { questions });
    lease[Symbol.dispose]();
    pool.retire(targets[0]);
    await expect.poll(() => door.sessions()).toEqual([]);
    await expect(pool.acquire(targets[1])).rejects.toMatchObject({
      code: 'SSH_AUTH_NEEDED',
    });
  });
});

it('a passphrase is asked for once for all machines that take the key', async () => {
  await using other = await SshServer.start();
  other.authorize(locked);
  await using pool = new SshPool();
  const questions = answering();
  await pool.acquire(server.target({ identities: [locked] }), { questions });
  const lease = await pool.acquire(other.target({ identities: [locked] }));
  expect((await lease.connection.run('echo $HOME')).stdout).toBe(`${other.home}\n`);
  expect(questions.count).toBe(1);
});
