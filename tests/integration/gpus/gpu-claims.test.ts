/** A GPU that another process has claimed: who has it, as far as the system tells. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { describeHolder } from '../../../src/agent/gpus/claim-holder.ts';
import type { Claim } from '../../../src/agent/gpus/gpu-claim.ts';

const CLAIMER = path.join(import.meta.dirname, 'gpu-claimer.ts');
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
/** nobody */
const OTHER_USER = 65_534;

interface Claimer extends AsyncDisposable {
  readonly pid: number;
  /** What it got, and in words who has it if it got nothing. */
  readonly answer: { readonly claim: Claim; readonly words: string };
}

/** A rank, by its title, that asks for the GPU once and lives on. */
async function claimer(id: string, title: string, uid?: number): Promise<Claimer> {
  const child: ChildProcess = spawn(process.execPath, [CLAIMER, id, title], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: tmpdir(),
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const closed = once(child, 'close');
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  return {
    pid: child.pid!,
    answer: JSON.parse(String(line)) as Claimer['answer'],
    [Symbol.asyncDispose]: async () => {
      child.stdin!.end();
      await closed;
    },
  };
}

const freshId = (): string => `test ${randomBytes(8).toString('hex')}`;

test.skipIf(process.platform !== 'linux')(
  'another rank is named by its run',
  async () => {
    const id = freshId();
    {
      await using first = await claimer(id, 'gradwire worker run-a 0');
      expect(first.answer.claim).toEqual({ kind: 'claimed' });
      await using second = await claimer(id, 'gradwire worker run-b 0');
      const { uid, username } = userInfo();
      expect(second.answer).toEqual({
        claim: { kind: 'held', holder: { pid: first.pid, uid } },
        words: `process ${first.pid} of ${username}, gradwire worker run-a 0`,
      });
    }
    // It is free once its holder has ended.
    await using third = await claimer(id, 'gradwire worker run-c 0');
    expect(third.answer.claim).toEqual({ kind: 'claimed' });
  },
);

test.skipIf(!isRoot)('a rank of another user is named to a plain user', async () => {
  const id = freshId();
  await using first = await claimer(id, 'gradwire worker run-a 0');
  await using second = await claimer(id, 'gradwire worker run-b 0', OTHER_USER);
  expect(second.answer.words).toBe(
    `process ${first.pid} of root, gradwire worker run-a 0`,
  );
  const other = freshId();
  await using theirs = await claimer(other, 'gradwire worker run-d 1', OTHER_USER);
  await using third = await claimer(other, 'gradwire worker run-b 0');
  expect(third.answer.words).toMatch(
    new RegExp(`^process ${theirs.pid} of \\w+, gradwire worker run-d 1$`),
  );
});

test.skipIf(process.platform !== 'linux')(
  'whoever listens there is named, whatever it is',
  async () => {
    const id = freshId();
    const server = createServer().listen(`\0gradwire-gpu ${id}`);
    await once(server, 'listening');
    await using second = await claimer(id, 'gradwire worker run-b 0');
    // Node pads the names of its own sockets, so that the kernel may hold them for others.
    if (second.answer.claim.kind === 'held') {
      expect(second.answer.words).toContain(`process ${process.pid} of`);
    }
    server.close();
  },
);

test('what is not known is not said', () => {
  expect(describeHolder({})).toBe('a process that does not say who it is');
  expect(describeHolder({ uid: 4_000_000 })).toBe(
    'a process of user 4000000, outside this container',
  );
  expect(describeHolder({ pid: 2 ** 30, uid: 4_000_000 })).toBe(
    `process ${2 ** 30} of user 4000000`,
  );
});
