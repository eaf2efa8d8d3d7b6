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
