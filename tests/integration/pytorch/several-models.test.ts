/** Programs with several models: averaged at once, in one backward pass or by one call. */
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

const script = path.join(import.meta.dirname, 'two_models.py');
const STEPS = 12;
const ENCODER = 20 * 60 + 60 + 60 * 30 + 30;
/** Elements of both models. */
const ELEMENTS = ENCODER + 30 * 60 + 60 + 60 * 20 + 20;
const TOLERANCE = 1e-6;

describe.skipIf(pytorch === undefined)('a program with two models', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-several-models-'));
  const home = new GradwireHome();
  /** Weights with DDP's own communication. */
  let plain: Float32Array;

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const weights = (name: string, rank: number): Float32Array =>
    new Float32Array(
      Uint8Array.from(readFileSync(path.join(folder, `${name}.${rank}`))).buffer,
    );

  const exec = (how: string, ...options: readonly string[]): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, script, path.join(folder, how), how],
    ]);

  const farthest = (a: Float32Array, b: Float32Array): number =>
    a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);

  beforeAll(async () => {
    await trainAlone(2, script, path.join(folder, 'plain'), 'plain');
    plain = weights('plain', 0);
    expect(plain).toHaveLength(ELEMENTS);
    expect(farthest(weights('plain', 1), plain)).toBe(0);
  });

  test('ends with the weights of DDP for both: by-hand', () =>
    endsEqual('by-hand', ELEMENTS));

  test.each([
    ['joined', ELEMENTS],
    ['one', ENCODER],
  ])('ends with the weights of DDP for both: %s', { tags: 'soak' }, endsEqual);

  async function endsEqual(how: string, attached: number): Promise<void> {
    const command = exec(how);
    succeeded(await command.finished);
    for (const rank of [0, 1]) {
      const got = weights(how, rank);
      expect(got).toHaveLength(ELEMENTS);
      expect(farthest(got, plain)).toBeLessThanOrEqual(TOLERANCE);
    }
    const iterations = ofType(command.records, 'iteration');
    expect(iterations).toHaveLength(2 * STEPS);
    for (const { bytes, phases } of iterations) {
      expect(bytes.dense).toBe(4 * attached);
      expect(phases.backward).toBeGreaterThan(0);
    }
    expect(await command.record('done')).toMatchObject({
      iterations: STEPS,
      consistent: true,
    });
  }

  test(
    'is switched in mid-run, with a pattern for the layers of one model',
    { tags: 'soak' },
    async () => {
      const settings = JSON.stringify([{ match: 'decoder.*', method: 'none' }]);
      const command = exec(
        'joined',
        ...['--set', `exchange.layers=${settings}`],
        ...['--switch', '4:method=topk,ratio=0.05', '--switch', '7:method=a2sgd'],
        ...['--switch', '10:method=none'],
      );
      succeeded(await command.finished);
      expect(farthest(weights('joined', 0), weights('joined', 1))).toBe(0);
      expect(farthest(weights('joined', 0), plain)).toBeGreaterThan(TOLERANCE);
      const methods = ofType(command.records, 'switch').map(({ to }) => to.method);
      expect(methods).toEqual(['topk', 'a2sgd', 'none']);
      expect(await command.record('done')).toMatchObject({ consistent: true });
    },
  );

  test.each([
    ['apart', 'PROGRAM_FAILED', /MODELS_APART: .* of encoder without those of decoder/],
    ['differ', 'PROGRAM_MODELS_DIFFER', /rank 1 has attached other models than rank 0/],
  ])(
    'is refused, and does not wait for ever: %s',
    { tags: 'soak' },
    async (how, code, message) => {
      const command = exec(how);
      expect((await command.finished).code).not.toBe(0);
      const { error } = await command.record('failed');
      expect(error).toMatchObject({ code });
      expect(error.message).toMatch(message);
      if (how === 'differ') expect(error).toMatchObject({ rank: 1 });
    },
  );
});
