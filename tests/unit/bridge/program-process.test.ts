import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { ProgramProcess } from '../../../src/agent/bridge/program-process.ts';
import { until } from '../../harness/processes.ts';

/** Names of the processes of a group, those that have ended left out. */
function groupOf(leader: number): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [, name = '', state, group] = /\((.*)\) (\S) \d+ (\d+)/.exec(stat)!;
        return Number(group) === leader && state !== 'Z' ? [name] : [];
      } catch {
        // It ended in between.
        return [];
      }
    });
}

test.runIf(process.platform === 'linux')(
  'a service that a program leaves behind does not keep its run',
  async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-process-'));
    const pid = path.join(directory, 'pid');
    const service = `setsid sh -c 'echo $$ > "${pid}.new"; mv "${pid}.new" "${pid}"; exec sleep 600' &`;
    const program = new ProgramProcess({
      command: [
        '/bin/sh',
        '-c',
        `${service} while [ ! -e "${pid}" ]; do sleep 0.01; done; exit 3`,
      ],
      env: process.env,
      bridge: path.join(directory, 'bridge', 'socket'),
    });
    program.begin();
    expect(await program.exit).toEqual({ code: 3, signal: null, stderr: '' });
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    rmSync(directory, { recursive: true });
  },
);

test.runIf(process.platform === 'linux')(
  'a program whose group was warned by a batch system still ends with its rank',
  async () => {
    const directory = mkdtempSync(path.join(os.tmpdir(), 'gradwire-process-'));
    const pidFile = path.join(directory, 'pid');
    const module = pathToFileURL(
      path.join(import.meta.dirname, '../../../src/agent/bridge/program-process.ts'),
    );
    const options = {
      command: [
        ...['/bin/sh', '-c'],
        `trap '' USR1 USR2; echo $$ > "${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"; exec sleep 600`,
      ],
      env: {},
      bridge: path.join(directory, 'bridge', 'socket'),
    };
    const script =
      `const { ProgramProcess } = await import(${JSON.stringify(module.href)});` +
      `new ProgramProcess(${JSON.stringify(options)}).begin(); setInterval(() => {}, 1e6);`;
    const rank = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: 'ignore',
    });
    await until(
      () => existsSync(pidFile),
      (there) => there,
      'the program to run',
    );
    const leader = Number(readFileSync(pidFile, 'utf8'));
    try {
      await until(
        () => groupOf(leader),
        (names) => names.includes('cat') && names.includes('sleep'),
        'the guard to be set up',
      );
      process.kill(-leader, 'SIGUSR1');
      process.kill(-leader, 'SIGUSR2');
      rank.kill('SIGKILL');
      await until(
        () => groupOf(leader),
        (names) => names.length === 0,
        'the program and its guard to end',
      );
    } finally {
      rank.kill('SIGKILL');
      if (groupOf(leader).length > 0) process.kill(-leader, 'SIGKILL');
      rmSync(directory, { recursive: true });
    }
  },
);
