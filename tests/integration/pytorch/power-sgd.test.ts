/**
 * PowerSGD beside PyTorch's own hook (warm start, error feedback): the same trajectory. What a rank keeps
 * back differs, M − P̂·Qᵀ of its own or of the average, but not the sum over ranks, and nothing else matters.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';
import { trainAlone } from './launched-alone.ts';

const script = path.join(import.meta.dirname, 'low_rank_training.py');
/** The first step with factors, and all steps: twenty follow the first. */
const START = 3;
const STEPS = 24;
/** Largest difference of weights that the order of f32 sums may make in twenty steps. */
const ROUNDING = 5e-5;

describe.skipIf(pytorch === undefined)('PowerSGD', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-power-sgd-'));
  const home = new GradwireHome();
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Weights of rank 0 after each step. */
  function trajectory(name: string): readonly Float32Array[] {
    const bytes = readFileSync(path.join(folder, `${name}.0`));
    const all = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    const length = all.length / STEPS;
    return Array.from({ length: STEPS }, (_, step) =>
      all.subarray(step * length, (step + 1) * length),
    );
  }

  const distances = (
    one: readonly Float32Array[],
    other: readonly Float32Array[],
  ): readonly number[] =>
    one.map((weights, step) =>
      weights.reduce((most, w, i) => Math.max(most, Math.abs(w - other[step]![i]!)), 0),
    );

  const cases = [
    { ranks: 2, options: {} },
    { ranks: 4, options: { tags: 'soak' } },
  ] as const;

  for (const { options, ranks } of cases) {
    test(`is PyTorch’s own with ${ranks} ranks`, options, () => isSame(ranks));
  }

  async function isSame(ranks: number): Promise<void> {
    const out = (name: string): string => path.join(folder, `${name}-${ranks}`);
    const how = [String(ranks), String(START)];
    await trainAlone(ranks, script, out('hook'), ...how, '--dense', out('dense'));
    const command = home.start([
      ...['exec', '--json', '--ranks', `${ranks}`],
      ...['--switch', `${START}:method=powersgd,rank=${ranks}`],
      ...['--', pytorch!, script, out('joined'), ...how, '--join'],
    ]);
    succeeded(await command.finished);

    const hook = trajectory(`hook-${ranks}`);
    const apart = distances(hook, trajectory(`joined-${ranks}`));
    expect(Math.max(...apart), apart.join(' ')).toBeLessThan(ROUNDING);
    // It is not the dense one, so that it says something.
    const lossy = distances(hook, trajectory(`dense-${ranks}`));
    expect(Math.max(...lossy.slice(0, START + 1))).toBeLessThan(ROUNDING);
    expect(lossy.at(-1)).toBeGreaterThan(20 * ROUNDING);
  }
});
