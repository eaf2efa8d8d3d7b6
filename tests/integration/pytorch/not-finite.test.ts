/**
 * Gradients that are not finite: all ranks of a program skip the step alike, and afterwards nothing
 * is left of it. A training in which a step was skipped ends with the bits of one without it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  GradwireHome,
  succeeded,
  type RunningCommand,
} from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { realDataWith } from '../../harness/real-data.ts';
import { ofType } from '../../harness/records.ts';
import { trainAlone } from './launched-alone.ts';

const script = path.join(import.meta.dirname, 'scaled_training.py');

describe.skipIf(pytorch === undefined)('a gradient that is not finite', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-not-finite-'));
  const home = new GradwireHome();

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const weights = (name: string): readonly Buffer[] =>
    [0, 1].map((rank) => readFileSync(path.join(folder, `${name}.${rank}`)));

  const exec = (
    name: string,
    options: readonly string[],
    ...args: readonly string[]
  ): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, script, path.join(folder, name), '--join', ...args],
    ]);

  /** Methods with residuals and state of several kinds, and a switch that flushes. */
  const schedule = (topk: number, none: number): readonly string[] => [
    ...['--method', 'powersgd', '--switch', `${topk}:method=topk,ratio=0.05`],
    ...['--switch', `${none}:method=none`],
  ];

  const notices = (command: RunningCommand): readonly string[] =>
    ofType(command.records, 'notice')
      .filter(({ code }) => code === 'GRADIENT_NOT_FINITE')
      .map(({ level, message, rank }) => `${rank} ${level}: ${message}`);

  /** Scales as each rank has printed them. */
  const scales = (command: RunningCommand): readonly (readonly number[])[] =>
    ofType(command.records, 'log')
      .filter(({ text }) => text.startsWith('scales '))
      .map(({ text }) => JSON.parse(text.slice('scales '.length)) as number[]);

  test(
    'under a GradScaler is a skipped step, after which all is as before',
    { tags: 'soak' },
    async () => {
      const skipping = exec('skipped', schedule(6, 12), '--bad', '3', '8', '12');
      succeeded(await skipping.finished);
      const omitting = exec('omitted', schedule(5, 10), '--omit', '3', '8', '12');
      succeeded(await omitting.finished);
      const [own, other] = scales(skipping);
      expect(own).toEqual(other);
      expect(new Set(own)).toEqual(new Set([65536, 32768, 16384, 8192]));
      const [skipped, omitted] = [weights('skipped'), weights('omitted')];
      expect(skipped[0]!.equals(skipped[1]!)).toBe(true);
      expect(skipped[0]!.equals(omitted[0]!)).toBe(true);
      const done = { reason: 'completed', iterations: 18, consistent: true };
      expect(await skipping.record('done')).toMatchObject(done);
      expect(notices(skipping)).toEqual([
        expect.stringMatching(
          /^1 info: the gradient of tensor 0\.weight is -?(Infinity|NaN) at element \d+ in iteration 3 on rank 1: .*GradScaler skips/,
        ),
      ]);
      expect(notices(omitting)).toEqual([]);
    },
  );

  test('without one is what DDP gives, and is told', { tags: 'soak' }, async () => {
    await trainAlone(
      2,
      ...[script, path.join(folder, 'plain'), '--guard', 'none', '--bad', '15'],
    );
    const command = exec('passed', [], '--guard', 'none', '--bad', '15');
    succeeded(await command.finished);
    const [plain, passed] = [weights('plain')[0]!, weights('passed')[0]!].map(
      ({ buffer, byteOffset, length }) => [
        ...new Float32Array(buffer.slice(byteOffset, byteOffset + length)),
      ],
    );
    expect(plain!.some(Number.isNaN)).toBe(true);
    expect(passed).toEqual(plain);
    expect(notices(command)).toEqual([
      expect.stringMatching(/^1 warning: .* in iteration 15 .*scaler=scaler/),
    ]);
  });

  test(
    'that the program itself skips leaves nothing behind',
    { tags: 'soak' },
    async () => {
      const args = ['--guard', 'own'];
      const skipping = exec('own', schedule(6, 12), ...args, '--bad', '3', '8', '12');
      succeeded(await skipping.finished);
      const other = exec('other', schedule(5, 10), ...args, '--omit', '3', '8', '12');
      succeeded(await other.finished);
      expect(weights('own')[0]!.equals(weights('other')[0]!)).toBe(true);
    },
  );

  const data = realDataWith('train-images-idx3-ubyte.gz');
  test.skipIf(data === undefined).each(['float16', 'bfloat16'])(
    'is skipped in %s under topk, which learns the digits as well as DDP',
    { tags: 'soak', timeout: 1_200_000 },
    async (dtype) => {
      const digits = path.join(import.meta.dirname, 'scaled_digits.py');
      const train = async (...args: readonly string[]) => {
        const command = home.start([...['exec', '--json', '--ranks', '2', ...args]]);
        succeeded(await command.finished);
        const { text } = await command.record('log', (log) =>
          log.text.startsWith('accuracy'),
        );
        const [, accuracy, skipped] = /^accuracy (\S+) skipped (\d+)/.exec(text)!;
        return { accuracy: Number(accuracy), skipped: Number(skipped) };
      };
      const program = [pytorch!, digits, data!, '--dtype', dtype];
      const plain = await train('--observe', '--', ...program);
      const topk = ['--method', 'topk', '--set', 'exchange.ratio=0.01'];
      const compressed = await train(...topk, '--', ...program, '--join');
      process.stderr.write(`${dtype}: ${JSON.stringify({ plain, compressed })}\n`);
      expect(compressed.accuracy).toBeGreaterThan(plain.accuracy - 0.01);
      if (dtype === 'float16') expect(compressed.skipped).toBeGreaterThan(0);
    },
  );
});
