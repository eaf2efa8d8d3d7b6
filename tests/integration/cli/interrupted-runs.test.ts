/** Runs whose command, supervisor or ranks are interrupted, and runs that go on by themselves. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { CommandTerminal } from '../../harness/command-terminal.ts';
import {
  builtCommand,
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { LASTING, LASTING_ALONE } from '../../harness/lasting-runs.ts';
import { until, untilAsync } from '../../harness/processes.ts';
import { ofType } from '../../harness/records.ts';
import { jsonLines, newestRun } from './listed-runs.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Long enough that it is still going whenever we look. */
const endless = [
  ...['quickstart', '--json', ...LASTING_ALONE.flatMap((one) => ['--set', one])],
];

async function started(...more: readonly string[]): Promise<RunningCommand> {
  const command = home.start(['run', ...endless, ...more]);
  await command.record('iteration');
  return command;
}

describe('interrupting', () => {
  // A test that has failed leaves its run, which others would meet.
  afterEach(async () => {
    for (const { pid } of home.processes()) {
      process.kill(pid, 'SIGCONT');
      process.kill(pid, 'SIGKILL');
    }
    await until(
      () => home.processes(),
      (left) => left.length === 0,
      'the processes of the test to end',
    );
  });

  test('Ctrl-C ends the run as stopped, keeps its records, exits 130', async () => {
    const command = await started();
    command.child.kill('SIGINT');
    command.child.kill('SIGINT'); // the same one, passed on by a parent
    const { code } = await command.finished;
    expect(code).toBe(130);
    expect(command.records.at(-1)).toMatchObject({ type: 'done', reason: 'stopped' });
    expect(await newestRun(commands)).toMatchObject({ state: 'stopped' });
    expect(home.supervisors()).toEqual([]);
  });

  test('Ctrl-C before the first iteration ends it as stopped, too', async () => {
    const command = home.start(['run', 'quickstart', '--set', 'iterations=1000000']);
    // The run has its row, and its ranks are only being started.
    await once(command.child.stdout!, 'data');
    command.child.kill('SIGINT');
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toEqual({
      code: 130,
      stderr: 'gradwire: stopping the run; Ctrl-C again does not wait for it\n',
    });
    expect(await newestRun(commands)).toMatchObject({ state: 'stopped' });
    expect((await home.run(['runs', 'list'])).stdout).toMatch(/ stopped /);
    expect(home.processes()).toEqual([]);
  });

  test(
    'a second Ctrl-C at a terminal does not wait for a run that stops late',
    { tags: 'soak' },
    async () => {
      // It stops at its next exchange, which does not come.
      const settings = ['parallelism.kind=local-steps', 'parallelism.every=1000000'];
      const set = [...settings, 'world.ranks=2', 'iterations=1000000'].flatMap(
        (setting) => ['--set', setting],
      );
      const terminal = CommandTerminal.open(home, ['run', 'quickstart', ...set]);
      await terminal.sees(/\d+\/1000000 +loss/);
      terminal.type('\u0003');
      await terminal.sees(/stopping the run .*; Ctrl-C again does not wait for it/);
      // What comes at once is the same Ctrl-C.
      await setTimeout(700);
      terminal.type('\u0003');
      const code = await terminal.ended;
      expect(code).toBe(130);
      expect(terminal.shown).toMatch(
        /asked to stop and ends in the background; see how with: gradwire runs show \w{8}\r\n$/,
      );
      expect((await newestRun(commands)).state).toBe('running');
      for (const { pid } of home.supervisors()) process.kill(pid, 'SIGTERM');
      await until(
        () => home.processes(),
        (left) => left.length === 0,
        'the run to end with its supervisor',
      );
    },
  );

  test(
    'ranks that are all suspended are named, and Ctrl-C ends their run',
    { tags: 'soak' },
    async () => {
      const command = home.startQuickstart(['world.ranks=2', ...LASTING]);
      const { processes } = await command.record('started');
      await command.record('iteration');
      for (const { pid } of processes) process.kill(pid, 'SIGSTOP');
      const notice = await command.record(
        'notice',
        ({ code }) => code === 'RANKS_SUSPENDED',
      );
      const pids = processes.map(({ pid }) => pid);
      expect(notice.message).toContain(
        `ranks 0, 1 (processes ${pids.join(', ')}) are suspended: kill -CONT ${pids.join(' ')}`,
      );
      command.child.kill('SIGINT');
      expect((await command.finished).code).toBe(130);
      expect(command.records.at(-1)).toMatchObject({ type: 'done', reason: 'stopped' });
    },
  );

  test(
    'a supervisor that is suspended is left, with what to do',
    { tags: 'soak' },
    async () => {
      const command = await started();
      const { pid } = home.supervisors()[0]!;
      process.kill(pid, 'SIGSTOP');
      command.child.kill('SIGINT');
      const { code, stderr } = await command.finished;
      process.kill(pid, 'SIGCONT');
      expect(code).toBe(130);
      expect(stderr).toMatch(
        /SUPERVISOR_TIMEOUT: its supervisor .* no sign of life .*kill -CONT \d+.*\n.*may continue; stop it with: gradwire runs stop \w{8}\n$/,
      );
      expect((await home.run(['runs', 'attach', 'last'])).stdout).toContain('stopped');
    },
  );

  test(
    'a supervisor that is suspended while a run starts: the run has not begun, and says so',
    { tags: 'soak' },
    async () => {
      const command = home.startQuickstart([
        ...['world.ranks=2', 'patienceSeconds=35'],
        ...LASTING,
      ]);
      await until(
        () => home.processes('gradwire worker'),
        (found) => found.length > 0,
        'the ranks to start',
      );
      const { pid } = home.supervisors()[0]!;
      process.kill(pid, 'SIGSTOP');
      const { code, stderr } = await command.finished;
      process.kill(pid, 'SIGCONT');
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /SUPERVISOR_TIMEOUT: .* no sign of life .*, while the run was being started .*It has not begun\./,
      );
      expect(stderr).not.toContain('other machines');
      expect((await newestRun(commands)).state).toBe('failed');
      await until(
        () => home.processes('gradwire worker'),
        (left) => left.length === 0,
        'the ranks to end',
      );
    },
  );

  test(
    'a stop that was left with a suspended supervisor is obeyed when it continues',
    { tags: 'soak' },
    async () => {
      const command = await started();
      const { pid } = home.supervisors()[0]!;
      process.kill(pid, 'SIGSTOP');
      command.child.kill('SIGINT');
      await until(
        () => command.stderr,
        (text) => text.includes('stopping the run'),
        'the stop to be sent',
      );
      command.child.kill('SIGKILL');
      await command.finished;
      process.kill(pid, 'SIGCONT');
      await until(
        () => home.processes('gradwire worker'),
        (left) => left.length === 0,
        'the run to stop',
      );
      expect((await home.run(['runs', 'attach', 'last'])).stdout).toContain('stopped');
    },
  );

  test(
    'a stop that a suspended supervisor did not confirm is to be repeated',
    { tags: 'soak' },
    async () => {
      const command = await started();
      const { pid } = home.supervisors()[0]!;
      process.kill(pid, 'SIGSTOP');
      const { code, stderr } = await home.run(['runs', 'stop', 'last']);
      process.kill(pid, 'SIGCONT');
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /SUPERVISOR_TIMEOUT: .* has not confirmed the stop: repeat it then with gradwire runs stop \w{8}\.\n$/,
      );
      succeeded(await home.run(['runs', 'stop', 'last']));
      expect((await command.finished).code).toBe(0);
    },
  );

  test(
    'Ctrl-C before a detached run has begun stops it, and says so',
    { tags: 'soak' },
    async () => {
      const command = home.start(['run', 'quickstart', '--detach']);
      await until(
        () => home.processes('gradwire worker'),
        (found) => found.length > 0,
        'ranks to start',
      );
      command.child.kill('SIGINT');
      expect(await command.finished).toMatchObject({
        code: 130,
        stdout: '',
        stderr: 'gradwire: stopping the run; Ctrl-C again does not wait for it\n',
      });
      expect(await newestRun(commands)).toMatchObject({
        state: 'stopped',
        error: {
          code: 'RUN_STOPPED',
          message: 'the run was stopped before it started',
        },
      });
      expect(home.processes()).toEqual([]);
    },
  );

  test('--detach prints the id of a run that goes on by itself', async () => {
    const settings = ['--set', 'world.ranks=1', '--set', 'iterations=20'];
    const { stdout } = await home.run(['run', 'quickstart', ...settings, '--detach']);
    const attached = await home.run(['runs', 'attach', stdout.trim(), '--json']);
    expect(attached.code).toBe(0);
    const records = jsonLines<RunRecord>(attached.stdout);
    expect(ofType(records, 'iteration')).toHaveLength(20);
    expect(records.at(-1)).toMatchObject({ type: 'done', reason: 'completed' });
  });

  test(
    'a reader that goes away stops the run without a word',
    { tags: 'soak' },
    async () => {
      const command = await started();
      command.child.stdout!.destroy();
      const { code, stderr } = await command.finished;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(await newestRun(commands)).toMatchObject({ state: 'stopped' });
      expect(home.supervisors()).toEqual([]);
    },
  );

  test.runIf(existsSync('/dev/full'))(
    'output that cannot be written stops the run',
    async () => {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = spawnSync(
        process.execPath,
        [builtCommand, 'run', 'quickstart', '--set', 'iterations=1000000'],
        {
          env: { ...process.env, GRADWIRE_HOME: home.directory },
          stdio: ['ignore', full, 'pipe'],
          encoding: 'utf8',
        },
      );
      closeSync(full);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/^gradwire: OUTPUT_FAILED: .*\n$/) as string,
      });
      expect(await newestRun(commands)).toMatchObject({ state: 'stopped' });
    },
  );

  test(
    'a terminal that closes leaves the run to the supervisor',
    { tags: 'soak' },
    async () => {
      const command = await started('--switch', '900000:method=topk,ratio=0.01');
      command.child.kill('SIGHUP');
      await command.finished;
      expect(home.supervisors()).toHaveLength(1);
      const { state, id } = await newestRun(commands);
      expect(state).toBe('running');

      const refused = await home.run(['runs', 'switch', id, 'method=topk', 'ratio=7']);
      expect(refused.code).toBe(2);
      // The ring takes dense payloads: fine now, a misfit under the top-k that is scheduled.
      const { code, stderr } = await home.run([
        'runs',
        'switch',
        id,
        'collective=ring',
      ]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const show = async (): Promise<RunDetail> =>
        JSON.parse(
          (await home.run(['runs', 'show', id, '--json'])).stdout,
        ) as RunDetail;
      const { events } = await untilAsync(
        show,
        (detail) => detail.events.some(({ type }) => type === 'switch'),
        'the switch to happen',
      );
      expect(events.filter(({ type }) => type === 'switch')).toMatchObject([
        { to: { method: 'none', collective: 'ring' } },
      ]);

      const attached = home.start(['runs', 'attach', id, '--json']);
      await once(attached.child.stdout!, 'data');
      attached.child.kill('SIGINT');
      expect((await attached.finished).code).toBe(130);
      expect((await newestRun(commands)).state).toBe('running');

      const stopped = await home.run(['runs', 'stop', id]);
      expect(stopped.stdout).toMatch(/stopped after \d+ iterations/);
      expect((await show()).state).toBe('stopped');
      await until(
        () => home.supervisors(),
        (left) => left.length === 0,
        'the supervisor to end',
      );
    },
  );
});
