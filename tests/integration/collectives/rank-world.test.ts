/** The processes of one command: one stops, dies, or says why it fails. */
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  fromRankSchema,
  type FromRank,
  type ToRank,
} from '../../../src/agent/probe/rank-protocol.ts';
import { RankWorld } from '../../../src/agent/world/rank-world.ts';

const entry = path.join(import.meta.dirname, '../../../src/agent/probe/rank-main.ts');

const start = (size: number, file = entry): RankWorld<ToRank, FromRank> =>
  new RankWorld({
    size,
    reports: fromRankSchema,
    commandOf: () => ({ entry: file }),
  });

const listen = (rank: number): ToRank => ({ type: 'listen', rank });

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test(
  'a process that is stopped before it answers is named, and ends with the others',
  { tags: 'soak' },
  async () => {
    let pids: readonly number[];
    {
      await using world = start(2);
      pids = world.pids;
      process.kill(pids[1]!, 'SIGSTOP');
      const listening = world.all('listening', listen, 15_000);
      // On a busy machine the other rank may be late as well.
      await expect(listening).rejects.toMatchObject({ code: 'WORKER_SILENT' });
    }
    expect(pids.filter(isAlive)).toEqual([]);
  },
);

test('a process that is killed between two orders fails the next', async () => {
  await using world = start(2);
  await world.all('listening', listen);
  process.kill(world.pids[1]!, 'SIGKILL');
  await expect.poll(() => isAlive(world.pids[1]!)).toBe(false);
  await expect(world.all('listening', listen)).rejects.toMatchObject({
    code: 'WORKER_DIED',
    rank: 1,
    message: 'the process of rank 1 was killed by SIGKILL',
  });
});

test('a rank that cannot follow an order reports why, and its exit adds nothing', async () => {
  await using world = start(2);
  const probing = world.all('probed', () => ({
    ...{
      type: 'probe',
      addresses: [{ host: '127.0.0.1', port: 9 }],
      run: 'r',
      secret: Buffer.alloc(32),
      effort: 'quick',
    },
    transport: 'auto',
  }));
  await expect(probing).rejects.toMatchObject({
    code: 'INTERNAL',
    message: expect.stringContaining('not listening') as string,
  });
});

test('what a process printed before it died is in the error', async () => {
  await using world = start(1, path.join(import.meta.dirname, 'no-such-entry.ts'));
  await expect(world.all('listening', listen)).rejects.toMatchObject({
    code: 'WORKER_DIED',
    rank: 0,
    message: expect.stringMatching(
      /^the process of rank 0 exited with code 1: Error.*no-such-entry/,
    ) as string,
  });
});
