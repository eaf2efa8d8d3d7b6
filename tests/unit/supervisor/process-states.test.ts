/** Processes that a process has started, and which are suspended. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import {
  startedBy,
  suspendedAmong,
} from '../../../src/agent/supervisor/ranks/process-states.ts';
import { untilAsync } from '../../harness/processes.ts';

test.runIf(process.platform === 'linux')(
  'a suspended process is found below the one that started it',
  async () => {
    // As a rank starts its program through a shell.
    const shell = spawn('/bin/sh', ['-c', 'sh -c "sleep 60; :"; :'], {
      detached: true,
    });
    try {
      const started = await untilAsync(
        () => startedBy(shell.pid!),
        (pids) => pids.length === 2,
        'the shell to start its program',
      );
      expect(await suspendedAmong([shell.pid!, ...started])).toEqual(new Set());
      process.kill(started[1]!, 'SIGSTOP');
      await untilAsync(
        () => suspendedAmong([shell.pid!, ...started]),
        (suspended) => suspended.has(started[1]!) && suspended.size === 1,
        'the program to be suspended',
      );
    } finally {
      process.kill(-shell.pid!, 'SIGKILL');
    }
  },
);
