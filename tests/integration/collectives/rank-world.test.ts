/** The processes of one command, of which one may stop before anything limits its time. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Listening } from '../../../src/agent/allreduce/rank-protocol.ts';
import { RankWorld } from '../../../src/agent/allreduce/rank-world.ts';

const children = (): readonly number[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], {
    encoding: 'utf8',
  })
    .split('\n')
    .filter((line) => line.includes('gradwire worker'))
    .map((line) => Number(line.trim().split(' ')[0]));

test('a process that is stopped before it answers is named, and ends with the others', async () => {
  {
    await using world = new RankWorld(2, 4000);
    const pids = children();
    expect(pids).toHaveLength(2);
    process.kill(pids[1]!, 'SIGSTOP');
    const listening = world.all<Listening>((rank) => ({ type: 'listen', rank }));
    await expect(listening).rejects.toMatchObject({ code: 'WORKER_SILENT', rank: 1 });
  }
  expect(children()).toEqual([]);
});
