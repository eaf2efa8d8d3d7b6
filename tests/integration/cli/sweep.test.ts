/** `gradwire sweep` and `gradwire sweeps`: queues of real runs, stopped, killed and gone on with. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { RunStore } from '../../../src/main/store/run-store.ts';
import type { SweepDetail, SweepRun } from '../../../src/shared/sweep/sweep-status.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { until } from '../../harness/processes.ts';

const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

type Line = Readonly<Record<string, unknown>>;
const lines = (stdout: string): readonly Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

/** The home's history, read here: a command for each look would take longer than the runs. */
let opened: RunStore | undefined;
const history = (): RunStore =>
  (opened ??= RunStore.open(path.join(home.directory, 'gradwire.db')));
afterAll(() => opened?.close());

const show = (sweep: string): SweepDetail | undefined => {
  const { sweeps } = history();
  const found = sweeps.list().find(({ name }) => name === sweep);
  return found && sweeps.detail(found.id);
};

const states = (sweep: SweepDetail | undefined): readonly string[] | undefined =>
  sweep?.runs.toSorted((a, b) => a.number - b.number).map(({ state }) => state);

const SHORT = ['iterations=6', 'evaluateEvery=3', 'world.ranks=1'];
const LONG = ['iterations=100000', 'evaluateEvery=0', 'world.ranks=1'];
const settings = (of: readonly string[]): readonly string[] =>
  of.flatMap((setting) => ['--set', setting]);

const inProgress = (sweep: SweepDetail | undefined): SweepRun | undefined =>
  sweep?.runs.find(({ iterations, state }) => state === 'running' && iterations! > 0);

/** Resolves when a run of the sweep has begun. @returns its id */
const running = async (sweep: string): Promise<string> =>
  inProgress(
    await until(
      () => show(sweep),
      (seen) => inProgress(seen) !== undefined,
      `a run of ${sweep} to begin`,
    ),
  )!.run!;

const SEEDS = effort({ quick: 1, soak: 2 });

test('every point runs with every seed; one that fails does not end the sweep', async () => {
  const file = path.join(home.directory, 'sweep.yaml');
  writeFileSync(
    path.join(home.directory, 'base.yaml'),
    'workload: { model: fnn3, dataset: digits }\n',
  );
  writeFileSync(
    file,
    `name: two rates\nbase: base.yaml\nseeds: ${SEEDS}\n` +
      'grid: { optimizer.lr: [0.1, 1.0e+30], exchange.ratio: [0.1], exchange.method: [none, topk] }\n',
  );
  const finished = await home.run(['sweep', file, '--json', ...settings(SHORT)]);
  expect(finished.code).toBe(1);
  expect(finished.stderr).toMatch(
    new RegExp(`SWEEP_RUNS_FAILED: ${2 * SEEDS} runs of sweep two rates failed`),
  );
  const [begin, ...rest] = lines(finished.stdout);
  expect(begin).toMatchObject({ type: 'sweep', name: 'two rates', points: 4 });
  expect(rest.pop()).toMatchObject({
    type: 'end',
    state: 'finished',
    counts: { completed: 2 * SEEDS, failed: 2 * SEEDS },
  });
  expect(rest.map(({ label, seed, state }) => [label, seed, state])).toEqual(
    [1, 2].slice(0, SEEDS).flatMap((seed) => [
      ['lr 0.1, none', seed, 'completed'],
      ['lr 0.1, topk, ratio 0.1', seed, 'completed'],
      ['lr 1e+30, none', seed, 'failed'],
      ['lr 1e+30, topk, ratio 0.1', seed, 'failed'],
    ]),
  );

  // The runs are on the list, with what they are runs of.
  const list = await home.run([
    'runs',
    'list',
    '--filter',
    `sweep:"two rates" state:completed seed=${SEEDS}`,
    '--json',
  ]);
  expect(
    lines(list.stdout)
      .map(({ name }) => name)
      .sort(),
  ).toEqual([
    `two rates: lr 0.1, none, seed ${SEEDS}`,
    `two rates: lr 0.1, topk, ratio 0.1, seed ${SEEDS}`,
  ]);
  const shown = succeeded(await home.run(['sweeps', 'show', 'two rates'])).stdout;
  expect(shown).toMatch(
    new RegExp(`^ +2 +0\\.1 +topk +0\\.1 +${SEEDS}/${SEEDS} +\\d\\.\\d+ `, 'm'),
  );

  // Those that failed, again.
  const again = await home.run(['sweeps', 'resume', 'two rates', '--retry', '--json']);
  expect(again.code).toBe(1);
  expect(lines(again.stdout).filter(({ type }) => type === 'run')).toHaveLength(
    2 * SEEDS,
  );
});

test('what is wrong with a point is told before anything runs', async () => {
  const { code, stderr } = await home.run([
    'sweep',
    'quickstart',
    '--vary',
    'exchange.method=topk',
    '--vary',
    'exchange.ratio=0.1,2',
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /METHOD_PARAMETER_INVALID: "ratio" is 2: .* \(point 2: exchange\.ratio 2/,
  );
  expect(succeeded(await home.run(['sweeps', 'list', '--json'])).stdout).not.toMatch(
    /Quickstart/,
  );
});

test('Ctrl-C stops the sweep and its run, and resuming runs it again', async () => {
  const name = 'interrupted';
  const command = home.start([
    'sweep',
    'quickstart',
    '--name',
    name,
    '--json',
    '--seeds',
    '2',
    ...settings(LONG),
  ]);
  const run = await running(name);
  command.child.kill('SIGINT');
  const finished = await command.finished;
  expect(finished.code).toBe(130);
  expect(lines(finished.stdout).at(-1)).toMatchObject({
    type: 'end',
    state: 'stopped',
  });
  const stopped = show(name);
  expect(states(stopped)).toEqual(['stopped', 'queued']);
  expect(stopped!.runs[0]!.run).toBe(run);

  const resumed = home.start(['sweeps', 'resume', name, '--json']);
  expect(await running(name)).not.toBe(run);
  // From elsewhere, without waiting for its turn.
  succeeded(await home.run(['sweeps', 'edit', name, '--drop', '2']));
  succeeded(await home.run(['sweeps', 'stop', name]));
  expect((await resumed.finished).code).toBe(0);
  expect(states(show(name))).toEqual(['stopped', 'dropped']);
  succeeded(await home.run(['sweeps', 'delete', name]));
});

test(
  'a sweep whose command was killed goes on with the same run',
  { tags: 'soak' },
  async () => {
    const name = 'killed';
    const command = home.start([
      'sweep',
      'quickstart',
      '--name',
      name,
      '--json',
      '--seeds',
      '2',
      ...settings(LONG),
    ]);
    const run = await running(name);
    command.child.kill('SIGKILL');
    await command.finished;
    expect(show(name)?.state).toBe('waiting');

    const resumed = home.start(['sweeps', 'resume', name, '--json']);
    await until(
      () => show(name),
      (seen) => seen?.state === 'running',
      'it to go on',
    );
    // A second one only watches.
    const watching = home.start(['sweeps', 'resume', name, '--json']);
    await until(
      () => show(name),
      (seen) => seen?.state === 'running',
      'it to go on',
    );
    expect(await running(name)).toBe(run);
    succeeded(await home.run(['runs', 'stop', run]));
    const second = await until(
      () => show(name),
      (seen) => inProgress(seen)?.number === 2,
      'the second run to begin',
    );
    expect(states(second)).toEqual(['stopped', 'running']);
    // It goes on where the first one ends.
    resumed.child.kill('SIGKILL');
    await resumed.finished;
    await until(
      () => watching.stderr,
      (text) => /this command goes on with it/.test(text),
      'the second one to go on',
    );
    expect(show(name)?.state).toBe('running');
    watching.child.kill('SIGINT');
    expect((await watching.finished).code).toBe(130);
    expect(show(name)?.state).toBe('stopped');
  },
);
