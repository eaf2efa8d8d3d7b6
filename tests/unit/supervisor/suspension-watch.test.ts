/** Ranks that are suspended and continued one by one, as their supervisor tells it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SuspensionWatch } from '../../../src/agent/supervisor/ranks/suspension-watch.ts';
import type { Notice } from '../../../src/shared/records/notice.ts';

let ranks: readonly ChildProcess[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  ranks = [0, 1, 2].map(() => spawn('sleep', ['600']));
});
afterEach(() => {
  vi.useRealTimers();
  for (const rank of ranks) rank.kill('SIGKILL');
});

test.runIf(process.platform === 'linux')(
  'tells all that are suspended when there are more, and those that continue',
  async () => {
    const told: Notice[] = [];
    const processes = new Map(ranks.map(({ pid }, rank) => [rank, pid!]));
    const watch = new SuspensionWatch({
      processes: () => processes,
      told: (notice) => told.push(notice),
    });
    /** Sends a signal and looks until that is told. */
    const after = async (rank: number, signal: NodeJS.Signals): Promise<Notice[]> => {
      ranks[rank]!.kill(signal);
      const before = told.length;
      await vi.waitFor(
        async () => {
          await vi.advanceTimersByTimeAsync(2000);
          expect(told.length).toBeGreaterThan(before);
        },
        { timeout: 60_000 },
      );
      return told.slice(before);
    };
    const pid = (rank: number): string => String(processes.get(rank));
    expect(await after(1, 'SIGSTOP')).toMatchObject([
      { code: 'RANKS_SUSPENDED', level: 'warning', ranks: [1], programs: [] },
    ]);
    const [both] = await after(2, 'SIGSTOP');
    expect(both).toMatchObject({ code: 'RANKS_SUSPENDED', ranks: [1, 2] });
    expect(both!.message).toContain(`kill -CONT ${pid(1)} ${pid(2)} continues the run`);
    expect(await after(1, 'SIGCONT')).toEqual([
      {
        level: 'info',
        code: 'RANKS_CONTINUED',
        ranks: [1],
        programs: [],
        message: `rank 1 (process ${pid(1)}) is no longer suspended`,
      },
    ]);
    expect(await after(2, 'SIGCONT')).toMatchObject([
      { code: 'RANKS_CONTINUED', ranks: [2] },
    ]);
    watch.close();
  },
);
