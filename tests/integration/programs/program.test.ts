/** Programs of one's own as ranks, from launch to end: what they compute, and how they fail. */
import { describe, expect, it, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { succeeded } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';
import { NOT_FINITE, program, programsOfFile } from './programs-of-file.ts';

const { home, joined, scripted, nothingIsLeft } = programsOfFile();

test('ranks get the average, and end with the same weights; what they print is in the log', async () => {
  const command = joined(3, ...program('40'));
  succeeded(await command.finished);
  const started = await command.record('started');
  expect(started).toMatchObject({ backend: 'torch', parameters: 1001 });
  expect(started.processes[0]).toMatchObject({ device: 'scripted' });
  const texts = ofType(command.records, 'log').map(({ text }) => text);
  expect(texts.toSorted()).toEqual([0, 1, 2].map((rank) => `rank ${rank} of 3 begins`));
  const iterations = ofType(command.records, 'iteration');
  expect(iterations).toHaveLength(120);
  for (const { phases, wall, lr, bytes } of iterations) {
    expect({ wall, lr }).toEqual({ wall: 8, lr: 0.5 });
    expect(phases).toMatchObject({ data: 1, compute: 0, forward: 2, backward: 3 });
    expect(bytes).toMatchObject({ dense: 4004, payload: 4004 });
  }
  expect(await command.record('done')).toMatchObject({
    reason: 'completed',
    iterations: 40,
    loss: expect.closeTo(1 / 40, 12) as number,
    consistent: true,
  });
});

test('the exchange is switched in mid-run, through methods of every kind', async () => {
  const command = joined(
    2,
    ...['--switch', '10:method=topk,ratio=0.1', '--switch', '20:method=qsgd'],
    ...['--switch', '30:method=a2sgd', '--switch', '40:method=powersgd'],
    ...['--switch', '50:method=none'],
    ...program('60', 'lossy'),
  );
  succeeded(await command.finished);
  const switches = ofType(command.records, 'switch');
  expect(switches.map(({ fence, to }) => [fence, to.method])).toEqual([
    [10, 'topk'],
    [20, 'qsgd'],
    [30, 'a2sgd'],
    [40, 'powersgd'],
    [50, 'none'],
  ]);
  // Replicas drift under a2sgd, so the program is held and its weights are averaged.
  expect(switches[3]).toMatchObject({ resynchronized: true });
  const bytes = ofType(command.records, 'iteration').find(
    ({ iteration }) => iteration === 12,
  );
  expect(bytes!.bytes.payload).toBeLessThan(1200);
  expect(await command.record('done')).toMatchObject({ consistent: true });
});

test('a gradient that is not finite leaves nothing behind', async () => {
  const run = (topk: number, none: number, ...args: readonly string[]) =>
    joined(
      2,
      ...['--method', 'powersgd', '--switch', `${topk}:method=topk,ratio=0.1`],
      ...['--switch', `${none}:method=none`, '--set', 'exchange.bucketBytes=64'],
      ...program(...args),
    );
  const spoilt = run(10, 20, '30', 'spoilt', '4,11,20,25');
  succeeded(await spoilt.finished);
  const omitting = run(9, 18, '30', 'omitting', '4,11,20,25');
  succeeded(await omitting.finished);
  const done = await spoilt.record('done');
  expect(done).toMatchObject({ iterations: 30, consistent: true });
  const { weights } = await omitting.record('done');
  expect(done.weights).toBe(weights);
  const notices = ofType(spoilt.records, 'notice').filter(
    ({ code }) => code === 'GRADIENT_NOT_FINITE',
  );
  expect(notices).toMatchObject([{ level: 'warning', rank: 1 }]);
  expect(notices[0]!.message).toMatch(
    /^the gradient of tensor first is NaN at element 3 in iteration 4 on rank 1: .*scaler=scaler/,
  );
});

test('a switch is foreseen from the tensors that a program has told', async () => {
  const command = joined(2, ...program('1000000', 'lossy'));
  await command.record('iteration', ({ iteration }) => iteration >= 20);
  const asked = ['runs', 'switch', 'last', 'method=topk', 'ratio=0.1', '--dry-run'];
  const { stdout } = await home().run([...asked, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    now: { payloadBytes: 4004 },
    then: { payloadBytes: 800 },
    tensors: [{ name: 'first', length: 1000 }, { name: 'empty' }, { name: 'last' }],
  });
  command.child.kill('SIGINT');
  await command.finished;
});

test('layers are chosen by the names of the program’s tensors', async () => {
  const layers = (match: string) =>
    `exchange.layers=[{match: "${match}", method: topk, ratio: 0.1}]`;
  const command = joined(
    2,
    ...['--set', layers('f*'), '--set', 'inspectEvery=5'],
    ...program('10', 'lossy'),
  );
  succeeded(await command.finished);
  const { buckets } = await command.record('buckets');
  expect(buckets.map(({ method, tensors }) => [method, tensors])).toEqual([
    ['none', ['empty', 'last']],
    ['topk', ['first']],
  ]);
  const wrong = joined(2, '--set', layers('fc.*'), ...program('10'));
  await wrong.finished;
  expect((await wrong.record('failed')).error).toMatchObject({
    code: 'LAYER_UNKNOWN',
    message: expect.stringContaining('"fc.*"') as string,
    next: 'The tensors are: first, empty, last.',
  });
  await nothingIsLeft();
});

test(
  'logged numbers that are not finite are told once, and training goes on',
  { tags: 'soak' },
  async () => {
    const command = joined(2, ...program('6', 'logs odd numbers'));
    succeeded(await command.finished);
    const notices = ofType(command.records, 'notice').filter(
      ({ code }) => code === 'MEASURE_NOT_FINITE',
    );
    expect(notices.map(({ message, rank }) => [rank, message]).toSorted()).toEqual([
      [0, NOT_FINITE],
      [0, NOT_FINITE],
      [1, NOT_FINITE],
      [1, NOT_FINITE],
    ]);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations.filter(({ loss }) => loss !== undefined)).toHaveLength(4);
    expect(iterations).toHaveLength(12);
    expect(await command.record('done')).toMatchObject({ iterations: 6 });
  },
);

test('a stop is asked for politely, after a whole step', async () => {
  const command = joined(2, ...program('1000000'));
  await command.record('iteration', ({ iteration }) => iteration >= 20);
  command.child.kill('SIGINT');
  const { code } = await command.finished;
  expect(code).toBe(130);
  expect(await command.record('done')).toMatchObject({
    reason: 'stopped',
    consistent: true,
  });
  const log = ofType(command.records, 'log').filter(({ text }) =>
    text.includes('asked to stop'),
  );
  expect(log.map(({ rank }) => rank).toSorted()).toEqual([0, 1]);
});

test('a program that hangs does not obey a stop, and is ended at once by another', async () => {
  const command = joined(2, ...program('1000000', 'hangs'));
  await command.record('iteration', ({ iteration }) => iteration === 19);
  command.child.kill('SIGINT');
  const stopped = await home().run(['runs', 'stop', 'last', '--now']);
  succeeded(stopped);
  expect(stopped.stdout).toMatch(/^run \w+: stopped after 20 iterations\n$/);
  expect((await command.finished).code).toBe(130);
  expect(await command.record('failed')).toMatchObject({
    error: { code: 'RUN_STOPPED', message: expect.stringContaining('at once') },
  });
  await nothingIsLeft();
});

describe('a program that fails', () => {
  const faults: readonly [string, string, RegExp, number | undefined][] = [
    ['throws', 'PROGRAM_FAILED', /ended with exit code 1: .*Node\.js/s, 1],
    ['leaves', 'PROGRAM_ENDED_EARLY', /in mid-run with exit code 0/, 1],
    ['model', 'PROGRAM_MODELS_DIFFER', /rank 1 has attached other models/, 1],
    ['garbage', 'BRIDGE_INVALID', /from/, undefined],
    ['uneven', 'PROGRAM_ENDED_EARLY', /program of rank 0 has ended/, 0],
    ['exits early', 'PROGRAM_FAILED', /exit code 3/, 0],
    ['version', 'BRIDGE_VERSION', /version 99/, undefined],
    ['observe', 'PROGRAM_MODE', /only observed/, undefined],
    ['fails late', 'PROGRAM_FAILED', /exit code 3/, undefined],
  ];
  it.each(faults.slice(0, effort({ quick: 4, soak: faults.length })))(
    'and %s is named',
    async (fault, code, message, rank) => {
      const command = joined(2, ...program('20', fault));
      const { stderr } = await command.finished;
      const { error } = await command.record('failed');
      expect(error.code).toMatch(new RegExp(`^(${code})$`));
      expect(error.message).toMatch(message);
      if (rank !== undefined) expect(error).toMatchObject({ rank });
      expect(stderr).toContain(error.code);
      await nothingIsLeft();
    },
  );

  const missing: readonly [string, string[], string][] = [
    ['PROGRAM_NOT_FOUND', [], 'no-such-program'],
    ['PROGRAM_NOT_JOINED', [], 'true'],
    ['PROGRAM_NOT_SEEN', ['--observe'], 'true'],
    ['WORKDIR_MISSING', ['--set', 'workload.workdir=/no-such-directory'], 'true'],
  ];
  it.each(missing.slice(0, effort({ quick: 2, soak: missing.length })))(
    'is %s',
    async (code, options, name) => {
      const command = joined(2, ...options, '--', name);
      await command.finished;
      expect((await command.record('failed')).error).toMatchObject({ code });
      await nothingIsLeft();
    },
  );
});

describe('the death of a rank', () => {
  it.each(effort({ quick: ['worker'], soak: ['worker', 'program', 'supervisor'] }))(
    'kills no more than its run: %s',
    async (who) => {
      const command = joined(2, ...program('1000000'));
      const { processes } = await command.record('started');
      await command.record('iteration', ({ iteration }) => iteration >= 5);
      const programs = scripted();
      expect(programs).toHaveLength(2);
      const [victim] =
        who === 'worker'
          ? processes.map(({ pid }) => pid)
          : who === 'program'
            ? programs
            : home()
                .supervisors()
                .map(({ pid }) => pid);
      process.kill(victim!, 'SIGKILL');
      await command.finished;
      await nothingIsLeft();
    },
  );
});
