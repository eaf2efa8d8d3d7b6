/** Programs without DDP, which average by a call; and the names by which layers are chosen. */
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

const script = path.join(import.meta.dirname, 'averaged_by_hand.py');
const ELEMENTS = 20 * 30 + 30 + 30 * 5 + 5;

describe.skipIf(pytorch === undefined)('a program that averages by a call', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-by-hand-'));
  const home = new GradwireHome();
  /** Weights of the same program whose gradients Gloo has averaged. */
  let plain: readonly Buffer[];

  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const weights = (name: string): readonly Buffer[] =>
    [0, 1].map((rank) => readFileSync(path.join(folder, `${name}.${rank}`)));

  const exec = (how: string, ...options: readonly string[]): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', '2', ...options, '--'],
      ...[pytorch!, script, path.join(folder, how), how],
    ]);

  beforeAll(async () => {
    await trainAlone(2, script, path.join(folder, 'plain'), 'model');
    plain = weights('plain');
    expect(plain[1]!.equals(plain[0]!)).toBe(true);
  });

  test(
    'attaches its model, and ends with the bits of Gloo',
    { tags: 'soak' },
    async () => {
      const command = exec('model');
      succeeded(await command.finished);
      expect(weights('model').every((one, rank) => one.equals(plain[rank]!))).toBe(
        true,
      );
      const iterations = ofType(command.records, 'iteration');
      expect(iterations).toHaveLength(24);
      for (const { bytes, loss, lr, phases, wall } of iterations) {
        expect(bytes.dense).toBe(4 * (ELEMENTS + 3));
        expect([lr, Number.isFinite(loss)]).toEqual([0.1, true]);
        for (const phase of ['forward', 'backward', 'apply'] as const) {
          expect(phases[phase]).toBeGreaterThan(0);
          expect(phases[phase]).toBeLessThan(wall);
        }
      }
      expect(await command.record('done')).toMatchObject({ consistent: true });
    },
  );

  const same = async (how: string, elements: number): Promise<void> => {
    const command = exec(how);
    succeeded(await command.finished);
    expect(weights(how).every((one, rank) => one.equals(plain[rank]!))).toBe(true);
    expect(await command.record('started')).toMatchObject({ parameters: elements });
    expect(ofType(command.records, 'iteration')).toHaveLength(24);
  };

  test('gives parameters alone, with the same bits', { tags: 'soak' }, async () => {
    await same('parameters', ELEMENTS + 3);
  });

  test('gives one vector, with the same bits', { tags: 'soak' }, async () => {
    await same('tensor', ELEMENTS);
  });

  test('is told that it has forgotten the call', { tags: 'soak' }, async () => {
    const command = exec('forgotten');
    await command.finished;
    expect((await command.record('failed')).error.message).toContain(
      'GRADIENT_NOT_AVERAGED',
    );
  });
});
