/** What can be done to runs from the command line, with real runs. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { isEvent, type RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunDetail, RunSummary } from '../../../src/shared/rpc/run-summary.ts';
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

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const lines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Long enough that it is still going whenever we look. */
const endless = [
  ...['quickstart', '--json', ...LASTING_ALONE.flatMap((one) => ['--set', one])],
];

async function newest(): Promise<RunSummary> {
  const { stdout } = await commands.run(['runs', 'list', '--limit', '1', '--json']);
  return lines<RunSummary>(stdout)[0]!;
}

async function started(...more: readonly string[]): Promise<RunningCommand> {
  const command = home.start(['run', ...endless, ...more]);
  await command.record('iteration');
  return command;
}

describe('a run', () => {
  const RANKS = 2;
  const ITERATIONS = 12;
  let records: readonly RunRecord[];
  const iterations = () => ofType(records, 'iteration');

  test('prints every record once', async () => {
    const { code, stdout, stderr } = await home.run([
      ...['run', 'digits-topk', '--json', '--set', `world.ranks=${RANKS}`],
      ...['--set', `iterations=${ITERATIONS}`, '--set', 'evaluateEvery=5'],
      ...['--set', 'exchange.layers=[{match: "*.bias", method: none}]'],
      ...['--set', 'exchange.warmupEpochs=0.024'],
      ...['--switch', '4:layers=[{match: layer3*, method: a2sgd}],quantize.bits=4'],
      ...['--switch', '8:method=scalecom,diagnosticsEvery=4'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    records = lines<RunRecord>(stdout);
    const keys = iterations().map(({ iteration, rank }) => `${iteration}/${rank}`);
    expect(new Set(keys).size).toBe(RANKS * ITERATIONS);
    expect(keys).toHaveLength(RANKS * ITERATIONS);
    expect(records.filter(({ type }) => type === 'evaluation')).toMatchObject([
      { iteration: 4 },
      { iteration: 9 },
      { iteration: 11 },
    ]);
    expect(records.at(-1)).toMatchObject({
      type: 'done',
      reason: 'completed',
      consistent: true,
    });
  });

  test('gives layers methods of their own, changes them in a switch, and says so', () => {
    // 8000 samples on two ranks are 125 iterations of 32.
    expect(records.find(({ type }) => type === 'started')).toMatchObject({
      plan: {
        parameters: { warmupIterations: 3 },
        layers: [{ match: '*.bias', method: 'none', parameters: {} }],
      },
    });
    const [first, second, ...more] = records.filter(({ type }) => type === 'switch');
    expect(first).toMatchObject({
      fence: 4,
      from: { method: 'topk' },
      to: {
        method: 'topk',
        parameters: { quantize: { bits: 4, bucket: 512 } },
        layers: [{ match: 'layer3*', method: 'a2sgd' }],
      },
      residual: 'flushed',
      resynchronized: false,
    });
    expect(second).toMatchObject({
      fence: 8,
      to: { method: 'scalecom' },
      residual: 'kept',
      resynchronized: true,
    });
    expect(second).not.toHaveProperty('to.layers');
    expect(more).toEqual([]);
    expect(records.filter(({ type }) => type === 'similarity')).toMatchObject([
      { iteration: 11, buckets: [{ contraction: expect.any(Number) as number }] },
    ]);
  });

  test('is stored as it was printed, and exports the same', async () => {
    const { stdout: exported } = await commands.run(['runs', 'export', 'last']);
    const file = JSON.parse(exported) as {
      run: RunSummary;
      events: RunRecord[];
      buckets: RunRecord[];
      utilisation: RunRecord[];
      iterations: RunRecord[];
    };
    expect(file.run).toMatchObject({
      state: 'completed',
      iterations: ITERATIONS,
      methods: ['topk', 'scalecom'],
    });
    expect(file.events).toEqual(records.filter((record) => isEvent(record)));
    const sums = ofType(records, 'bucket-sums');
    expect(file.buckets).toEqual(
      sums.toSorted((a, b) => a.from - b.from || a.rank - b.rank),
    );
    expect(sums.length).toBeGreaterThan(RANKS);
    expect(file.utilisation).toEqual(ofType(records, 'utilisation'));
    expect(file.iterations).toEqual(
      iterations().toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank),
    );

    const { stdout: attached } = await commands.run([
      'runs',
      'attach',
      'last',
      '--json',
    ]);
    // Sums of buckets and the use of machines are read by themselves, as traces are.
    expect(lines<RunRecord>(attached)).toEqual(
      records.filter(({ type }) => type !== 'bucket-sums' && type !== 'utilisation'),
    );

    const { stdout: csv } = await commands.run([
      ...['runs', 'export', 'last', '--format', 'csv'],
    ]);
    expect(csv.trimEnd().split('\n')).toHaveLength(1 + RANKS * ITERATIONS);

    const parquet = path.join(home.directory, 'switches.parquet');
    await commands.run([
      ...['runs', 'export', 'last', '--format', 'parquet', '--table', 'switches'],
      ...['--out', parquet],
    ]);
    const bytes = new Uint8Array(readFileSync(parquet)).buffer;
    const rows = await parquetReadObjects({ file: bytes });
    expect(rows.map(({ iteration }) => Number(iteration))).toEqual([4, 8]);
    const refused = await commands.run([
      ...['runs', 'export', 'last', '--table', 'events'],
    ]);
    expect(refused.stderr).toContain('EXPORT_TABLE_MISSING');
  });

  test('is launched again with its switches as they happened, and reads well', async () => {
    const { stdout, stderr, code } = await home.run(['runs', 'relaunch', 'last']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const list = await commands.run(['runs', 'list', '--json']);
    const runs = lines<RunSummary>(list.stdout);
    expect(runs).toHaveLength(2);
    const [again, model] = runs;
    expect(again).toMatchObject({ methods: model!.methods, loss: model!.loss });

    expect(stdout).toMatch(/^run \w{8}: Digits: top-k 1 % \(fnn3 on digits, 2 ranks/);
    expect(stdout).toMatch(/── iteration 4: topk .* → topk.*residual flushed/);
    expect(stdout).toMatch(/── iteration 8: topk .* → scalecom.*residual kept/);
    expect(stdout).toMatch(/mean per iteration +topk\/\S+ +topk\/\S+ +scalecom\/\S+/);
    expect(stdout).toMatch(/ {2}wait +.* ms +\d+(\.\d)? %/);
    expect(stdout).toMatch(
      /completed after 12 iterations in .*, all replicas identical/,
    );
    expect(stdout).not.toContain('\u001b');

    const { stdout: id } = await home.run([
      ...['runs', 'relaunch', 'last', '--json', '--set', 'optimizer.lr=0.05'],
      ...['--set', 'world.ranks=1'],
    ]);
    expect(lines<{ type: string; ranks?: number }>(id)).toContainEqual(
      expect.objectContaining({ type: 'started', ranks: 1 }),
    );
    const shown = await commands.run(['runs', 'show', 'last', '--json']);
    expect(shown.stdout).toContain('"lr":0.05');
  });

  test('leaves no supervisor behind', () => {
    expect(home.supervisors()).toEqual([]);
  });

  test('is taken off the list and put back, with others or not at all', async () => {
    const { id } = await newest();
    await commands.run(['runs', 'delete', id]);
    const other = await newest();
    expect(other.id).not.toBe(id);
    expect((await commands.run(['runs', 'show', id])).stdout).toContain(
      `\ndeleted; gradwire runs delete ${id} --undo restores it\n`,
    );
    await commands.run(['runs', 'delete', '--undo', id]);
    expect((await newest()).id).toBe(id);
    const both = [id, other.id];
    const refused = await commands.run(['runs', 'delete', ...both, 'nosuchrun']);
    expect(refused.stderr).toContain('RUN_UNKNOWN');
    expect((await newest()).id).toBe(id);
    const gone = await commands.run(['runs', 'delete', '--json', ...both, id]);
    expect(lines(gone.stdout)).toEqual(both.map((run) => ({ run, deleted: true })));
    expect(both).not.toContain((await newest()).id);
    succeeded(await commands.run(['runs', 'delete', '--undo', ...both]));
    expect((await newest()).id).toBe(id);
  });
});

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
    expect(await newest()).toMatchObject({ state: 'stopped' });
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
    expect(await newest()).toMatchObject({ state: 'stopped' });
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
      expect((await newest()).state).toBe('running');
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
      expect((await newest()).state).toBe('failed');
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
      expect(await newest()).toMatchObject({
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
    const records = lines<RunRecord>(attached.stdout);
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
      expect(await newest()).toMatchObject({ state: 'stopped' });
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
      expect(await newest()).toMatchObject({ state: 'stopped' });
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
      const { state, id } = await newest();
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
      expect((await newest()).state).toBe('running');

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
