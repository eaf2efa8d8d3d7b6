/** Programs whose models step in turns, such as a generator and its discriminator. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

const script = path.join(import.meta.dirname, 'models_in_turns.py');
const ROUNDS = 12;
const GENERATOR = 8 * 40 + 40 + 40 * 20 + 20;
const CRITIC = 20 * 50 + 50 + 50 + 1;
const TOLERANCE = 1e-6;

describe.skipIf(pytorch === undefined)('models that step in turns', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-in-turns-'));
  const home = new GradwireHome();

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const weights = (name: string, rank: number, critics = 1): Float32Array =>
    new Float32Array(
      Uint8Array.from(readFileSync(path.join(folder, `${name}.${critics}.${rank}`)))
        .buffer,
    );

  const exec = (
    name: string,
    options: readonly string[],
    ...args: readonly string[]
  ): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, script, path.join(folder, name), '--join', ...args],
    ]);

  const farthest = (a: Float32Array, b: Float32Array): number =>
    a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

  beforeAll(async () => {
    const rounds = ['--rounds', String(ROUNDS), '--critics', '1', '2', '5'];
    await trainAlone(2, script, path.join(folder, 'plain'), ...rounds);
  });

  const ways = describe.each([
    { critics: 5, way: 'frozen', tags: [] },
    { critics: 1, way: 'module', tags: ['soak'] },
    { critics: 1, way: 'through', tags: ['soak'] },
    { critics: 2, way: 'by-hand', tags: ['soak'] },
  ] as const);
  ways('$critics critics for a generator, $way', ({ critics, tags, way }) => {
    test('end with the weights of DDP', { tags: [...tags] }, async () => {
      const plain = weights('plain', 0, critics);
      expect(plain).toHaveLength(GENERATOR + CRITIC);
      const command = exec(
        'joined',
        [],
        ...['--critics', String(critics), '--rounds', String(ROUNDS), '--way', way],
      );
      succeeded(await command.finished);
      for (const rank of [0, 1]) {
        const got = weights('joined', rank, critics);
        expect(farthest(got, plain)).toBeLessThanOrEqual(TOLERANCE);
      }
      const iterations = ofType(command.records, 'iteration').filter(
        ({ rank }) => rank === 0,
      );
      expect(iterations).toHaveLength(ROUNDS * (critics + 1));
      const last = way === 'through' ? GENERATOR + CRITIC : GENERATOR;
      for (const { bytes, iteration, lr, phases } of iterations) {
        const isCritic = iteration % (critics + 1) < critics;
        const elements = isCritic ? CRITIC : last;
        expect(bytes).toMatchObject({ dense: 4 * elements, payload: 4 * elements });
        expect(lr).toBe(isCritic ? 0.05 : 0.01);
        expect(phases.backward).toBeGreaterThan(0);
      }
      expect(await command.record('done')).toMatchObject({ consistent: true });
      const warned = ofType(command.records, 'log').filter(({ text }) =>
        /averaged the gradients of critic, too/.test(text),
      );
      expect(warned.length > 0).toBe(way === 'through');
    });
  });

  test(
    'leave the residual of the model at rest alone, through switches',
    { tags: 'soak' },
    async () => {
      const command = exec(
        'watched',
        [
          ...['--method', 'topk', '--set', 'exchange.ratio=0.05'],
          ...['--switch', '10:method=dct,ratio=0.1', '--switch', '15:method=none'],
          ...['--switch', '21:method=powersgd,rank=1'],
        ],
        ...['--watch', '--rounds', String(ROUNDS)],
      );
      succeeded(await command.finished);
      expect(farthest(weights('watched', 0), weights('watched', 1))).toBe(0);
      const watched = ofType(command.records, 'log').filter(({ text }) =>
        text.startsWith('watched'),
      );
      expect(watched.length).toBeGreaterThan(2 * 12);
      expect(ofType(command.records, 'switch').map(({ fence }) => fence)).toEqual([
        10, 15, 21,
      ]);
      expect(await command.record('done')).toMatchObject({
        iterations: 2 * ROUNDS,
        consistent: true,
      });
    },
  );

  test('go on with the bits that a checkpoint has', { tags: 'soak' }, async () => {
    const topk = ['--method', 'topk', '--set', 'exchange.ratio=0.05'];
    const train = async (name: string, ...args: readonly string[]) => {
      succeeded(await exec(name, topk, ...args).finished);
      return weights(name, 0);
    };
    const whole = await train('whole', '--rounds', '8');
    await train('half', '--rounds', '4', '--save');
    const load = path.join(folder, 'half');
    const resumed = await train('resumed', '--rounds', '4', '--load', load);
    expect(farthest(resumed, whole)).toBe(0);
  });

  test('end in the middle of a round', { tags: 'soak' }, async () => {
    const methods = ['--method', 'a2sgd', '--switch', '5:method=topk'];
    const command = exec('middle', ['--set', 'iterations=7', ...methods]);
    succeeded(await command.finished);
    expect(await command.record('done')).toMatchObject({
      iterations: 7,
      consistent: true,
    });
  });

  test(
    'skip steps that are not finite, and go on as before',
    { tags: 'soak' },
    async () => {
      const train = async (name: string, topk: number, ...args: readonly string[]) => {
        const methods = ['--method', 'powersgd', '--switch', `${topk}:method=topk`];
        const command = exec(name, methods, ...args);
        succeeded(await command.finished);
        expect(farthest(weights(name, 0), weights(name, 1))).toBe(0);
        return command;
      };
      // One of a critic, and one of a generator.
      const skipping = await train('skipped', 10, '--bad', '4', '7');
      await train('omitted', 8, '--omit', '4', '7');
      expect(farthest(weights('skipped', 0), weights('omitted', 0))).toBe(0);
      const told = ofType(skipping.records, 'notice').filter(
        ({ code }) => code === 'GRADIENT_NOT_FINITE',
      );
      expect(told).toHaveLength(1);
      expect(told[0]!.message).toMatch(/tensor critic\./);
    },
  );

  describe('are refused where they must not go on', { tags: 'soak' }, () => {
    const refused = async (
      fault: string,
      code: string,
      message: RegExp,
    ): Promise<void> => {
      const command = exec('refused', [], '--fault', fault);
      const { code: status, stderr } = await command.finished;
      expect(status).not.toBe(0);
      const { error } = await command.record('failed');
      expect(error).toMatchObject({ code });
      expect(`${error.message} ${stderr}`).toMatch(message);
    };

    test('another order on one of the ranks', async () => {
      const message = /rank 1 is of generator, .* rank 0 is of critic/;
      await refused('order', 'PROGRAM_TURNS_DIFFER', message);
    });

    test.each([
      ['early', 'PROGRAM_ENDED_EARLY', /rank 1 has ended/],
      ['mixed', 'PROGRAM_MODELS_DIFFER', /rank 1 has attached other models/],
      ['together', 'PROGRAM_FAILED', /MODELS_APART: .* turns=True/],
    ])('%s', refused);

    test('compareEvery', async () => {
      const command = exec('compared', ['--set', 'compareEvery=2']);
      await command.finished;
      const { error } = await command.record('failed');
      expect(error).toMatchObject({ code: 'PROGRAM_MISFIT', place: 'compareEvery' });
    });

    test('a call for all, without DDP, while one rests', async () => {
      const command = exec('all', [], '--way', 'by-hand', '--fault', 'all');
      await command.finished;
      const { error } = await command.record('failed');
      expect(error.message).toMatch(/MODELS_APART: .* but generator has no gradient/);
    });
  });

  test('train the GAN of the examples', { tags: 'soak' }, async () => {
    const gan = path.join(import.meta.dirname, '../../../examples/pytorch/gan.py');
    const small = ['--rounds', '10', '--critics', '2', '--width', '32', '--batch', '8'];
    const command = home.start([
      ...['exec', '--json', '--ranks', '2', '--method', 'topk'],
      ...['--', pytorch!, gan, ...small],
    ]);
    succeeded(await command.finished);
    const losses = ofType(command.records, 'iteration').map(({ loss }) => loss);
    expect(losses).toHaveLength(2 * 30);
    expect(losses.every((loss) => Number.isFinite(loss))).toBe(true);
    expect(await command.record('done')).toMatchObject({
      iterations: 30,
      consistent: true,
    });
  });
});
