import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { isAlive } from '../../../src/main/home/process-life.ts';

test.runIf(process.platform === 'linux')(
  'a process that has ended does not run, whether or not its parent has taken note',
  async () => {
    expect(isAlive(process.pid)).toBe(true);
    // `cat` never asks how the child that it has got from the shell has ended.
    const parent = spawn('/bin/sh', ['-c', 'true & echo $!; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    await expect.poll(() => isAlive(Number(line))).toBe(false);
    expect(isAlive(parent.pid!)).toBe(true);
    parent.stdin.end();
    await once(parent, 'close');
    expect(isAlive(parent.pid!)).toBe(false);
  },
);
