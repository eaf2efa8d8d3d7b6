/** What can be done to runs from the command line, with real runs. */
import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import type { RunRecord } from '../../../src/shared/records.ts';
import type { RunDetail, RunSummary } from '../../../src/shared/rpc.ts';
import { GradwireHome, type RunningCommand } from '../../harness/gradwire.ts';
import { until, untilAsync } from '../../harness/processes.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const isIteration = (record: RunRecord): record is RunRecord & { type: 'iteration' } =>
  record.type === 'iteration';
const lines = <T>(text: string): T[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);

/** Two ranks, long enough that it is still going whenever we look. */
const endless = [
  'quickstart',
  '--set',
  'world.ranks=2',
  '--set',
  'iterations=1000000',
  '--json',
];

async function newest(): Promise<RunSummary> {
  const { stdout } = await home.run(['runs', 'list', '--limit', '1', '--json']);
  return lines<RunSummary>(stdout)[0]!;
}

async function started(): Promise<RunningCommand> {
  const command = home.start(['run', ...endless]);
  await command.record(isIteration);
  return command;
}

describe('a run', () => {
  const spec = [
    'digits-topk',
    '--set',
    'world.ranks=2',
    '--set',
    'iterations=30',
    '--set',
    'evaluateEvery=10',
    '--switch',
    '10:method=none',
  ];

  test('gives layers methods of their own, changes them in a switch, and says so', async () => {
    const { code, stdout, stderr } = await home.run([
      ...['run', 'digits-topk', '--json', '--set', 'world.ranks=2'],
      ...['--set', 'iterations=12', '--set', 'evaluateEvery=0'],
      ...['--set', 'exchange.layers=[{match: "*.bias", method: none}]'],
      ...['--set', 'exchange.warmupEpochs=0.024'],
      ...['--switch', '4:layers=[{match: layer3*, method: a2sgd}],quantize.bits=4'],
      ...['--switch', '8:method=scalecom,diagnosticsEvery=4'],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const records = lines<RunRecord>(stdout);
    // 8000 samples on two ranks are 125 iterations of 32.
    expect(records.find(({ type }) => type === 'started')).toMatchObject({
      plan: {
        parameters: { warmupIterations: 3 },
        layers: [{ match: '*.bias', method: 'none', parameters: {} }],
      },
    });
    const [first, second] = records.filter(({ type }) => type === 'switch');
    expect(first).toMatchObject({
      fence: 4,
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
    expect(records.filter(({ type }) => type === 'similarity')).toMatchObject([
      { iteration: 11, buckets: [{ contraction: expect.any(Number) as number }] },
    ]);
    expect(records.at(-1)).toMatchObject({ type: 'done', consistent: true });
  });

  test('prints every record once as it was stored, and exports the same', async () => {
    const { code, stdout, stderr } = await home.run(['run', ...spec, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const records = lines<RunRecord>(stdout);
    const iterations = records.filter(isIteration);
    const keys = iterations.map(({ iteration, rank }) => `${iteration}/${rank}`);
    expect(new Set(keys).size).toBe(60);
    expect(iterations).toHaveLength(60);
    expect(records.at(-1)).toMatchObject({ type: 'done', reason: 'completed' });
    expect(records.filter(({ type }) => type === 'switch')).toMatchObject([
      { fence: 10, from: { method: 'topk' }, to: { method: 'none' } },
    ]);

    const { stdout: exported } = await home.run(['runs', 'export', 'last']);
    const file = JSON.parse(exported) as {
      run: RunSummary;
      events: RunRecord[];
      iterations: RunRecord[];
    };
    expect(file.run).toMatchObject({
      state: 'completed',
      iterations: 30,
      methods: ['topk', 'none'],
    });
    expect(file.events).toEqual(records.filter((record) => !isIteration(record)));
    expect(file.iterations).toEqual(
      iterations.toSorted((a, b) => a.iteration - b.iteration || a.rank - b.rank),
    );

    const { stdout: attached } = await home.run(['runs', 'attach', 'last', '--json']);
    expect(lines<RunRecord>(attached)).toEqual(records);

    const { stdout: csv } = await home.run([
      'runs',
      'export',
      'last',
      '--format',
      'csv',
    ]);
    expect(csv.trimEnd().split('\n')).toHaveLength(61);
  });

  test('is launched again with its switches as they happened', async () => {
    const { stdout, code } = await home.run(['runs', 'relaunch', 'last', '--json']);
    expect(code).toBe(0);
    const [first, second] = await untilAsync(
      async () =>
        lines<RunSummary>((await home.run(['runs', 'list', '--json'])).stdout),
      // The one with layers before them.
      (runs) => runs.length === 3,
      'three runs',
    );
    expect(first).toMatchObject({ methods: second!.methods, loss: second!.loss });
    const switches = lines<RunRecord>(stdout).filter(({ type }) => type === 'switch');
    expect(switches).toMatchObject([{ fence: 10 }]);
  });

  test('reads well without --json', async () => {
    const { stdout, stderr, code } = await home.run(['run', ...spec]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^run \w{8}: Digits: top-k 1 % \(fnn3 on digits, 2 ranks/);
    expect(stdout).toMatch(/── iteration 10: topk .* → none.*residual flushed/);
    expect(stdout).toMatch(/mean per iteration +topk\/\S+ +none\/\S+/);
    expect(stdout).toMatch(/ {2}wait +.* ms +\d+(\.\d)? %/);
    expect(stdout).toMatch(
      /completed after 30 iterations in .*, all replicas identical/,
    );
    expect(stdout).not.toContain('\u001b');
  });

  test('leaves no supervisor behind', () => {
    expect(home.supervisors()).toEqual([]);
  });

  test('is taken off the list and put back', async () => {
    const { id } = await newest();
    await home.run(['runs', 'delete', id]);
    expect((await newest()).id).not.toBe(id);
    await home.run(['runs', 'delete', '--undo', id]);
    expect((await newest()).id).toBe(id);
  });
});

describe('interrupting', () => {
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

  test('a second Ctrl-C leaves a run that does not stop to the supervisor', async () => {
    const command = await started();
    const { processes } = await command.record(
      (record): record is RunRecord & { type: 'started' } => record.type === 'started',
    );
    const { pid } = processes[1]!;
    process.kill(pid, 'SIGSTOP');
    // As an impatient user would: the first asks the run to stop, which it cannot.
    const pressing = setInterval(() => {
      // One that comes while the process ends anyway would end it by the signal.
      if (!command.stderr.includes('goes on')) command.child.kill('SIGINT');
    }, 50);
    const { code, stderr } = await command.finished;
    clearInterval(pressing);
    process.kill(pid, 'SIGCONT');
    expect(code).toBe(130);
    expect(stderr).toMatch(/goes on; follow it with: gradwire runs attach \w{8}\n$/);
    const attached = await home.run(['runs', 'attach', 'last', '--json']);
    expect(lines<RunRecord>(attached.stdout).at(-1)).toMatchObject({ type: 'done' });
  });

  test('--detach prints the id of a run that goes on by itself', async () => {
    const settings = ['--set', 'world.ranks=2', '--set', 'iterations=20'];
    const { stdout } = await home.run(['run', 'quickstart', ...settings, '--detach']);
    const attached = await home.run(['runs', 'attach', stdout.trim(), '--json']);
    expect(attached.code).toBe(0);
    const records = lines<RunRecord>(attached.stdout);
    expect(records.filter(isIteration)).toHaveLength(40);
    expect(records.at(-1)).toMatchObject({ type: 'done', reason: 'completed' });
  });

  test('a reader that goes away stops the run without a word', async () => {
    const command = await started();
    command.child.stdout!.destroy();
    const { code, stderr } = await command.finished;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await newest()).toMatchObject({ state: 'stopped' });
    expect(home.supervisors()).toEqual([]);
  });

  test('a terminal that closes leaves the run to the supervisor', async () => {
    const command = await started();
    command.child.kill('SIGHUP');
    await command.finished;
    expect(home.supervisors()).toHaveLength(1);
    const { state, id } = await newest();
    expect(state).toBe('running');

    const refused = await home.run(['runs', 'switch', id, 'method=topk', 'ratio=7']);
    expect(refused.code).toBe(2);
    const { code } = await home.run([
      'runs',
      'switch',
      id,
      'method=topk',
      'ratio=0.05',
    ]);
    expect(code).toBe(0);
    await untilAsync(
      newest,
      ({ methods }) => methods.at(-1) === 'topk',
      'the switch to happen',
    );

    const attached = home.start(['runs', 'attach', id, '--json']);
    await once(attached.child.stdout!, 'data');
    attached.child.kill('SIGINT');
    expect((await attached.finished).code).toBe(130);
    expect((await newest()).state).toBe('running');

    const stopped = await home.run(['runs', 'stop', id]);
    expect(stopped.stdout).toMatch(/stopped after \d+ iterations/);
    const { stdout } = await home.run(['runs', 'show', id, '--json']);
    const detail = JSON.parse(stdout) as RunDetail;
    expect(detail.state).toBe('stopped');
    expect(detail.events.map(({ type }) => type)).toContain('switch');
    await until(
      () => home.supervisors(),
      (left) => left.length === 0,
      'the supervisor to end',
    );
  });
});
