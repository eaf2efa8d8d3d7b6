/** Processor time of our own processes, from what Linux says of them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { platform } from 'node:os';
import { describe, expect, test } from 'vitest';
import { timeBeneath, watchOtherWork } from '../../../src/cli/session/other-work.ts';

/** A process that uses processor time, in milliseconds, and says so. */
const working = (milliseconds: number): string =>
  `const used = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
   const end = used() + ${milliseconds};
   while (used() < end);
   console.log('done');`;

describe.runIf(platform() === 'linux')('processor time beneath a process', () => {
  test('includes that of a child, and of one that has ended', async () => {
    const before = timeBeneath(process.pid);
    const child = spawn(
      process.execPath,
      ['-e', `${working(300)} process.stdin.resume();`],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    await once(child.stdout, 'data');
    const during = timeBeneath(process.pid);
    expect(during - before).toBeGreaterThanOrEqual(300);
    // Of the child alone, the same without ours.
    expect(timeBeneath(child.pid!)).toBeGreaterThanOrEqual(300);
    child.stdin.end();
    await once(child, 'exit');
    expect(timeBeneath(process.pid)).toBeGreaterThanOrEqual(during);
  });

  test('of a process that does not exist is none', () => {
    expect(timeBeneath(2 ** 30)).toBe(0);
  });

  test('leaves a share of others between nothing and all', async () => {
    const others = await watchOtherWork(() => process.pid);
    const share = others();
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThanOrEqual(1);
  });
});
