/** Ways to use DDP beside the usual one: joined and observed they end with the weights of Gloo. */
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

const script = path.join(import.meta.dirname, 'ddp_variants.py');

/** Cases that PyTorch trains, and the iterations of each. */
const ITERATIONS = {
  static: 5,
  flag: 4,
  outside: 12,
  bfloat16: 4,
  mixed: 4,
  'mixed-views': 4,
  awkward: 4,
  'awkward-views': 4,
  compiled: 4,
  'compiled-inside': 4,
  rounded: 4,
} as const;
const all = Object.entries(ITERATIONS);
const TOLERANCE = 1e-6;

describe.skipIf(pytorch === undefined)('DDP', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-ddp-variants-'));
  const home = new GradwireHome();

  beforeAll(async () => {
    const names = all.map(([name]) => name).join(',');
    await trainAlone(2, script, path.join(folder, 'plain'), names);
  });
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const exec = (
    ranks: number,
    options: readonly string[],
    ...args: readonly string[]
  ): RunningCommand =>
    home.start([
      ...['exec', '--json', '--ranks', String(ranks), ...options, '--'],
      ...[pytorch!, script, ...args],
    ]);
  const weights = (how: string, name: string, rank: number): Buffer =>
    readFileSync(path.join(folder, `${how}.${name}.${rank}`));
  const floats = (bytes: Buffer): Float32Array =>
    new Float32Array(Uint8Array.from(bytes).buffer);
  /** The largest numbers of graphs that the ranks have printed. */
  const graphs = ({ records }: RunningCommand): readonly number[] =>
    ofType(records, 'log').flatMap(({ text }) =>
      text.startsWith('graphs ') ? Number(text.slice('graphs '.length)) : [],
    );

  const joins = async (name: string, iterations: number): Promise<void> => {
    const command = exec(2, [], path.join(folder, 'joined'), name, '--join');
    succeeded(await command.finished);
    for (const rank of [0, 1]) {
      const expected = weights('plain', name, rank);
      expect(expected.length).toBeGreaterThan(0);
      expect(weights('joined', name, rank).equals(expected)).toBe(true);
    }
    expect(await command.record('done')).toMatchObject({
      iterations,
      consistent: true,
    });
    if (name === 'compiled') expect(Math.min(...graphs(command))).toBeGreaterThan(1);
  };

  const quick = ['static', 'flag', 'mixed', 'awkward', 'compiled'];
  test.each(all.filter(([name]) => quick.includes(name)))(
    'joined ends with the bits of Gloo: %s',
    joins,
  );
  test.each(all.filter(([name]) => !quick.includes(name)))(
    'joined ends with the bits of Gloo: %s',
    { tags: 'soak' },
    joins,
  );

  test('observed keeps its bits, in all these ways', async () => {
    const names = all.map(([name]) => name).join(',');
    const command = exec(2, ['--observe'], path.join(folder, 'observed'), names);
    succeeded(await command.finished);
    for (const [name] of all) {
      for (const rank of [0, 1]) {
        const seen = weights('observed', name, rank);
        expect(seen.equals(weights('plain', name, rank)), name).toBe(true);
      }
    }
    expect(graphs(command)).toHaveLength(2);
    expect(Math.min(...graphs(command))).toBeGreaterThan(1);
    const iterations = ofType(command.records, 'iteration');
    for (const { phases } of iterations) expect(phases.backward).toBeGreaterThan(0);
    // Its optimiser's steps count, not its passes.
    expect(iterations).toHaveLength(2 * (4 * all.length + 1));
  });

  const averages = async (ranks: number): Promise<void> => {
    await trainAlone(ranks, script, path.join(folder, `plain-${ranks}`), 'usual');
    const out = path.join(folder, `joined-${ranks}`);
    succeeded(await exec(ranks, [], out, 'usual', '--join').finished);
    const first = weights(`joined-${ranks}`, 'usual', 0);
    const expected = floats(weights(`plain-${ranks}`, 'usual', 0));
    const values = floats(first);
    expect(values).toHaveLength(expected.length);
    const farthest = values.reduce(
      (most, value, i) => Math.max(most, Math.abs(value - expected[i]!)),
      0,
    );
    expect(farthest).toBeLessThanOrEqual(TOLERANCE);
    for (let rank = 1; rank < ranks; rank++) {
      expect(weights(`joined-${ranks}`, 'usual', rank).equals(first)).toBe(true);
    }
  };

  test('of 3 ranks has the same bits on all, and the average of Gloo', () =>
    averages(3));
  test(
    'of 4 ranks has the same bits on all, and the average of Gloo',
    { tags: 'soak' },
    () => averages(4),
  );

  test.each([['python-reducer', /MODEL_UNSUPPORTED: .*the compiler averages/]])(
    'is refused, and does not wait for ever: %s',
    fails,
  );
  test.each([
    ['static-at-once', /expect_autograd_hooks_ INTERNAL ASSERT FAILED/],
    ['cast', /has changed the type of value/],
  ])(
    'fails as it does without Gradwire, and does not wait for ever: %s',
    { tags: 'soak' },
    fails,
  );

  async function fails(name: string, message: RegExp): Promise<void> {
    const command = exec(2, [], path.join(folder, 'failed'), name, '--join');
    expect((await command.finished).code).toBe(1);
    const { error } = await command.record('failed');
    expect(error).toMatchObject({ code: 'PROGRAM_FAILED' });
    expect(error.message).toMatch(message);
  }
});
