/** Signals by which batch systems warn of a job's end, to every process of a run. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';

/** Ports on which a process listens by IPv4. */
function listeningPorts(pid: number): readonly number[] {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
      } catch {
        // It was closed in between.
        return undefined;
      }
    }),
  );
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.has(inode))
    .map(([, local]) => Number.parseInt(local!.split(':')[1]!, 16));
}

it('a warning opens no debugger in any process, and ends none', async () => {
  await using home = new GradwireHome();
  const run = home.startQuickstart([
    'world.ranks=2',
    'iterations=100000',
    'evaluateEvery=0',
  ]);
  await run.record('iteration');
  const pids = [
    run.child.pid!,
    ...['gradwire supervisor', 'gradwire worker'].flatMap((title) =>
      home.processes(title).map(({ pid }) => pid),
    ),
  ];
  expect(pids).toHaveLength(4);
  const before = pids.map(listeningPorts);
  for (const pid of pids) {
    process.kill(pid, 'SIGUSR1');
    process.kill(pid, 'SIGUSR2');
  }
  // A process that goes on has handled them.
  const newest = Math.max(
    ...run.records.map((record) =>
      record.type === 'iteration' ? record.iteration : 0,
    ),
  );
  await run.record('iteration', ({ iteration }) => iteration > newest + 20);
  expect(pids.map(listeningPorts)).toEqual(before);
  process.kill(run.child.pid!, 'SIGINT');
  const { code, stderr } = await run.finished;
  expect(stderr).not.toMatch(/debugger/i);
  expect(code).toBe(130);
  expect(await run.record('done')).toMatchObject({ reason: 'stopped' });
});
