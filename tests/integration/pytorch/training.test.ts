/**
 * A training in PyTorch as a run: with DDP's own communication, observed, and joined it ends with
 * the same bits. The average of two ranks is exact however it is computed.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { ofType } from '../../harness/records.ts';
import { trainAlone } from './launched-alone.ts';

const script = path.join(import.meta.dirname, 'small_training.py');
const STEPS = 6;
const total = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);
/** Elements of the model that are trained. */
const ELEMENTS = 20 * 60 + 60 + 2 * (60 * 60 + 60) + 60 * 60 + 1 + 60 * 10 + 10;

describe.skipIf(pytorch === undefined)('a training in PyTorch', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-training-'));
  const home = new GradwireHome();
  /** Weights with DDP's own communication, by rank. */
  let plain: readonly Buffer[];

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const weights = (name: string, ranks = 2): readonly Buffer[] =>
    Array.from({ length: ranks }, (_, rank) =>
      readFileSync(path.join(folder, `${name}.${rank}`)),
    );

  const exec = (
    name: string,
    options: readonly string[],
    ...args: readonly string[]
  ): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, script, path.join(folder, name), ...args],
    ]);

  /** Weights with DDP's own communication, without Gradwire. */
  async function alone(
    ranks: number,
    ...args: readonly string[]
  ): Promise<typeof plain> {
    await trainAlone(ranks, script, path.join(folder, 'alone'), ...args);
    return weights('alone', ranks);
  }

  beforeAll(async () => {
    plain = await alone(2);
    expect(plain[1]!.equals(plain[0]!)).toBe(true);
  });

  test('is observed: its bits stay the same, and its steps are seen', async () => {
    const command = exec('observed', ['--observe'], '--print');
    succeeded(await command.finished);
    expect(weights('observed').every((one, rank) => one.equals(plain[rank]!))).toBe(
      true,
    );
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(2 * STEPS);
    for (const { bytes, lr, phases, wall } of iterations) {
      expect(bytes.dense).toBe(4 * ELEMENTS);
      expect(lr).toBe(0.05);
      for (const phase of ['forward', 'backward', 'wait', 'apply'] as const) {
        expect(phases[phase]).toBeGreaterThan(0);
        expect(phases[phase]).toBeLessThan(wall);
      }
    }
    expect(await command.record('started')).toMatchObject({ parameters: ELEMENTS });
    for (const rank of [0, 1]) {
      const of = <T extends { readonly rank?: number | undefined }>(
        all: readonly T[],
      ) => all.filter((one) => one.rank === rank);
      const printed = of(ofType(command.records, 'log'))
        .filter(({ stream }) => stream === 'stdout')
        .map(({ text }) => text);
      expect(printed).toHaveLength(STEPS);
      expect(
        of(iterations).map(
          ({ iteration, loss }) => `step ${iteration} loss ${loss!.toFixed(4)}`,
        ),
      ).toEqual(printed);
      const [notice, ...more] = of(ofType(command.records, 'notice'));
      expect([notice?.code, more]).toEqual(['LOSS_PRINTED', []]);
      expect(notice!.message).toContain(`"${printed[0]}"`);
    }
    for (const rank of [0, 1]) {
      const seen = iterations.filter((one) => one.rank === rank);
      const intervals = ofType(command.records, 'bucket-sums').filter(
        (one) => one.rank === rank,
      );
      expect(intervals.map(({ from, to }) => [from, to])).toEqual([
        ...[
          [0, 1],
          [1, 2],
          [2, 4],
          [4, STEPS],
        ], // Twice as long each time.
      ]);
      for (const { buckets, from, to } of intervals) {
        const steps = seen.filter(
          ({ iteration }) => from <= iteration && iteration < to,
        );
        expect(buckets.length).toBeGreaterThan(1);
        expect(total(buckets.map(({ length }) => length))).toBe(ELEMENTS);
        expect(total(buckets.map(({ payload }) => payload!))).toBe(
          4 * ELEMENTS * steps.length,
        );
        // What is waited for is the last bucket's; microseconds are rounded.
        const waited = total(buckets.map(({ wait = 0 }) => wait));
        expect(waited).toBeCloseTo(total(steps.map(({ phases }) => phases.wait)), 1);
        const hidden = total(buckets.map((one) => one.hidden ?? 0));
        expect(hidden).toBeCloseTo(total(steps.map((one) => one.overlapped)), 1);
        for (const { begin, collective, end, name } of buckets) {
          expect(end).toBeGreaterThanOrEqual(begin);
          expect(name).toMatch(/^\w+(\.\w+)?( … \w+(\.\w+)?)?$/);
          expect(collective).toBe('own');
        }
      }
    }
  });

  const abrupt = path.join(import.meta.dirname, 'abrupt_training.py');
  const observed = (...program: readonly string[]) =>
    home.start([
      ...['exec', '--json', '--observe', '--ranks', '2', '--', pytorch!, ...program],
    ]);

  test('is observed to its end, also by os._exit(), whatever its tensors are called', async () => {
    const command = observed(abrupt);
    succeeded(await command.finished);
    expect(await command.record('done')).toMatchObject({
      reason: 'completed',
      iterations: 26,
    });
    const { tensors } = await command.record('tensors');
    const names = tensors.map(({ name }) => name);
    expect(names.find((name) => name.length > 100)).toMatch(/^\\x1b\[31mnn+…$/);
    const { own } = await command.record('forecast');
    expect(own.payloadBytes).toBe(4 * (2 * 40 * 41 + 3));
  });

  test('is told why nothing is predicted for two models', async () => {
    const command = observed(abrupt, 'two');
    succeeded(await command.finished);
    const notices = ofType(command.records, 'notice').map(({ message }) => message);
    expect(notices).toContainEqual(
      'exchanges through Gradwire could not be predicted: a step averages 3570 elements, and its first model has 3283',
    );
    const buckets = ofType(command.records, 'bucket-sums').flatMap(
      (one) => one.buckets,
    );
    expect(buckets.map(({ name }) => name)).toContain(
      'model 2: weight … model 2: bias',
    );
    const asked = ['runs', 'what-if', 'last', 'method=topk'];
    const { code, stderr } = await home.run(asked);
    expect(code).toBe(2);
    expect(stderr).toMatch(/WHAT_IF_MISFIT: .*averages 14\.3 kB in a step/);
  });

  test('is observed with a hook of its own: what that sends is not claimed', async () => {
    const hooked = path.join(import.meta.dirname, 'hooked_training.py');
    const command = observed(hooked);
    succeeded(await command.finished);
    for (const { bytes } of ofType(command.records, 'iteration')) {
      expect(bytes).toEqual({ dense: 4 * 4 * (40 * 40 + 40) });
    }
    // DDP divides the gradient anew after the first step.
    const last = ofType(command.records, 'bucket-sums').at(-1)!;
    expect(last.buckets.length).toBeGreaterThan(1);
    for (const bucket of last.buckets) expect(bucket).not.toHaveProperty('payload');
    const { stdout } = await home.run(['runs', 'export', 'last', '--format', 'json']);
    const { iterations } = JSON.parse(stdout) as { iterations: unknown[] };
    expect(iterations).toContainEqual(ofType(command.records, 'iteration')[0]);
    const shown = await home.run(['runs', 'show', 'last']);
    expect(shown.stdout).toMatch(/^payload bytes +–$/m);
  });

  test(
    'is observed where DDP divides some gradients and multiplies others',
    { tags: 'soak' },
    async () => {
      const three = await alone(3, '--views');
      const options = ['--observe', '--set', 'world.ranks=3'];
      const command = exec('three', options, '--views');
      succeeded(await command.finished);
      const observed = weights('three', 3);
      expect(observed.every((one, rank) => one.equals(three[rank]!))).toBe(true);
      const waits = ofType(command.records, 'iteration').map(
        ({ phases }) => phases.wait,
      );
      expect(waits.every((wait) => wait > 0)).toBe(true);
    },
  );

  test('joins: it ends with the bits of DDP, and what it logged is in its records', async () => {
    const command = exec('joined', [], '--join');
    succeeded(await command.finished);
    expect(weights('joined').every((one, rank) => one.equals(plain[rank]!))).toBe(true);
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(2 * STEPS);
    for (const { bytes, loss, lr, phases, wall } of iterations) {
      expect(bytes.dense).toBe(4 * ELEMENTS);
      expect([lr, Number.isFinite(loss)]).toEqual([0.05, true]);
      for (const phase of ['forward', 'backward', 'apply'] as const) {
        expect(phases[phase]).toBeGreaterThan(0);
        expect(phases[phase]).toBeLessThan(wall);
      }
    }
    expect(await command.record('done')).toMatchObject({
      reason: 'completed',
      iterations: STEPS,
      consistent: true,
    });
  });

  test(
    'is stopped after an iteration: its replicas are equal, and it ends orderly',
    { tags: 'soak' },
    async () => {
      const command = exec(
        'stopped',
        [
          ...['--set', 'iterations=9', '--switch', '2:method=topk,ratio=0.1'],
          ...['--switch', '4:method=a2sgd', '--switch', '6:method=none'],
        ],
        ...['--join', '--steps', '1000000'],
      );
      succeeded(await command.finished);
      const done = await command.record('done');
      expect(done).toMatchObject({
        reason: 'completed',
        iterations: 9,
        consistent: true,
      });
      for (const rank of [0, 1]) {
        const end = path.join(folder, `stopped.${rank}.end`);
        expect(readFileSync(end, 'utf8')).toBe('finally');
        // Stopped is raised where the optimiser's step was called, so nothing follows it.
        expect(existsSync(path.join(folder, `stopped.${rank}`))).toBe(false);
      }
    },
  );
});
