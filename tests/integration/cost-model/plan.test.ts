/** `gradwire plan` as a command: its JSON, its verdict, its errors. */
import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { methods } from '../../../src/agent/methods/registry.ts';
import type { PlannedMemory } from '../../../src/shared/forecast/planned-memory.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { idxBytes } from '../../unit/training/idx-fixtures.ts';

const profile = (beta: number) => ({
  version: 1,
  measuredAt: 0,
  transport: 'tcp',
  nodes: ['a', 'b'],
  pairs: [],
  loaded: [{ ranks: 2, alpha: 5e-5, beta }],
  kernels: {
    add: 1e-10,
    merge: 4e-9,
    scatter: 2e-9,
    select: 5e-10,
    quantize: 1e-9,
    dequantize: 3e-10,
  },
});

const { kernels } = profile(0);
/** Sums cost nothing either: what is left is latency, the same for all. */
const instant = { ...kernels, add: 0, merge: 0, scatter: 0 };

let home: GradwireHome;
let commands: CommandHost;
let directory: string;
/** 1 Mbit/s, and a network that moves bytes in no time. */
let slow: string;
let fast: string;
/** A few images in MNIST's format. */
let mnist: string;

const presetFiles = readdirSync(
  path.join(import.meta.dirname, '../../../resources/presets'),
).map((file) => path.basename(file, '.yaml'));

beforeAll(async () => {
  home = new GradwireHome();
  commands = new CommandHost(home);
  directory = await mkdtemp(path.join(tmpdir(), 'gradwire-plan-'));
  slow = path.join(directory, 'slow.json');
  fast = path.join(directory, 'fast.json');
  await writeFile(slow, JSON.stringify(profile(8e-6)));
  await writeFile(fast, JSON.stringify({ ...profile(1e-15), kernels: instant }));
  mnist = path.join(directory, 'mnist');
  await mkdir(mnist);
  for (const part of ['train', 't10k']) {
    const file = (name: string): string => path.join(mnist, `${part}-${name}-ubyte`);
    await writeFile(file('images-idx3'), idxBytes([64, 28, 28]));
    await writeFile(file('labels-idx1'), idxBytes([64], 10));
  }
});

afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

type Line = Readonly<Record<string, unknown>>;

async function plan(...args: readonly string[]): Promise<readonly Line[]> {
  const { code, stdout, stderr } = await commands.run(['plan', ...args, '--json']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

const ofType = (lines: readonly Line[], type: string): readonly Line[] =>
  lines.filter((line) => line.type === type);

describe('gradwire plan', () => {
  test('gives every method and collective, for every number of ranks', async () => {
    const ranks = effort({ quick: [8, 1024], soak: [8, 64, 1024, 100_000] });
    const lines = await plan(
      'digits-topk',
      '--network',
      slow,
      '--compute',
      '12.5',
      '--ranks',
      ranks.join(','),
    );
    expect(lines[0]).toMatchObject({
      type: 'basis',
      compute: 12.5,
      computeOrigin: 'given',
      network: `measured (${slow})`,
    });
    const candidates = ofType(lines, 'candidate');
    for (const count of ranks) {
      const those = candidates.filter((line) => line.ranks === count);
      expect(new Set(those.map(({ method }) => method))).toEqual(
        // Coordinate descent takes other steps, and sends little in any case.
        new Set([...methods.keys()].filter((id) => id !== 'blockcd')),
      );
      const own = those.filter((line) => line.own);
      expect(own.length).toBeGreaterThanOrEqual(5);
      expect(new Set(own.map(({ method }) => method))).toEqual(new Set(['topk']));
      const steps = those.map(({ step }) => step as number);
      expect(steps).toEqual(steps.toSorted((a, b) => a - b));
      for (const line of those) {
        const { compute, compress, exchange, decompress, step, speedup } =
          line as Record<string, number>;
        expect(compute).toBe(12.5);
        expect(compute! + compress! + exchange! + decompress!).toBeCloseTo(step!, 6);
        expect(line.pays).toBe(speedup! > 1);
      }
    }
    const memory = ofType(lines, 'memory') as readonly (Line & PlannedMemory)[];
    expect(memory.map((line) => line.ranks)).toEqual(ranks);
    for (const { machines, parts, perRank, ranks: count } of memory) {
      expect(parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(perRank);
      expect(parts).toContainEqual({ name: 'residual', bytes: 4 * 199_210 });
      const step = parts.filter(({ name }) => name.startsWith('comp'));
      expect(step.map(({ name }) => name)).toEqual(['computing', 'compiling']);
      // At least the gradient of what is computed.
      expect(step[0]!.bytes).toBeGreaterThan(4 * 199_210);
      expect(machines).toEqual([
        {
          node: 'this-computer',
          ranks: count,
          bytes: count * perRank,
          available: expect.any(Number) as number,
        },
      ]);
    }
    // At 1 Mbit/s nothing is as slow as everything.
    const verdicts = ofType(lines, 'verdict');
    expect(verdicts.map((line) => line.ranks)).toEqual(ranks);
    expect(verdicts.every((line) => line.compress)).toBe(true);
    const dense = candidates.find((line) => line.method === 'none' && line.ranks === 8);
    expect(dense).toMatchObject({ bound: 'bandwidth', pays: false });
  });

  test('has coordinate descent where the spec has it', async () => {
    const lines = await plan(
      ...['sparse-logistic', '--network', slow, '--compute', '1', '--ranks', '3'],
      ...['--set', 'exchange={method: blockcd, k: 50}'],
    );
    const own = ofType(lines, 'candidate').filter((line) => line.own);
    expect(new Set(own.map(({ method }) => method))).toEqual(new Set(['blockcd']));
  });

  test('a step has its share of an exchange that comes after local steps', async () => {
    const given = ['digits-topk', '--network', slow, '--compute', '10', '--ranks', '4'];
    const local = [
      ...['--set', 'parallelism.kind=local-steps'],
      ...['--set', 'parallelism.every=8'],
    ];
    const exchangeOf = (lines: readonly Line[]): number =>
      ofType(lines, 'candidate').find(
        ({ collective, method }) => method === 'none' && collective === 'ring',
      )!.exchange as number;
    const [always, seldom] = [await plan(...given), await plan(...given, ...local)];
    expect(exchangeOf(seldom)).toBeCloseTo(exchangeOf(always) / 8, 9);
    // It would have momentum within it, and the outer optimizer its own.
    expect(ofType(seldom, 'candidate').map(({ method }) => method)).not.toContain(
      'dgc',
    );
    expect(ofType(always, 'candidate').map(({ method }) => method)).toContain('dgc');
  });

  test('says where not to compress, and what it takes in memory', async () => {
    const { code, stdout } = await home.run([
      'plan',
      'digits-topk',
      '--network',
      fast,
      '--compute',
      '5',
      '--set',
      'exchange.collective=sparse-allgather',
      '--ranks',
      '4,1,4',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/topk \*\s+sparse-allgather/);
    expect(stdout).toMatch(/none\s+\S+.*baseline/);
    expect(stdout).toMatch(/4 ranks, do not compress: no method is predicted to beat /);
    expect(stdout).toMatch(/the spec’s topk would take/);
    expect(stdout.match(/\b\d+ ranks?, /g)).toEqual(['4 ranks, ', '1 rank, ']);
    expect(stdout).toMatch(
      /memory of a rank: about \S+ MB .*gradient 797 kB, residual/,
    );
    expect(stdout).toMatch(/memory on this computer: \S+ \S+ for its 4 ranks; it has /);
  });

  /** Of no compression, the same for all that are held against it. */
  let usual: Promise<readonly Line[]> | undefined;

  test.each([
    '{method: none, collective: ring}',
    '{method: none, quantizeSums: {bits: 8}}',
    '{method: none, layers: [{match: "*.weight", method: qsgd}]}',
  ])('holds %s against the best uncompressed exchange', async (exchange) => {
    const common = ['digits-topk', '--network', slow, '--compute', '1'];
    const ranks = ['--ranks', '64'];
    const own = await plan(...common, '--set', `exchange=${exchange}`, ...ranks);
    usual ??= plan(...common, '--set', 'exchange={method: none}', ...ranks);
    const [baseline] = ofType(await usual, 'candidate').filter((line) => line.own);
    expect(baseline).toMatchObject({ uncompressed: true, speedup: 1 });
    const same = ofType(own, 'candidate').find(
      (line) => line.uncompressed && line.collective === baseline!.collective,
    );
    expect(same).toMatchObject({ own: false, speedup: 1 });
    expect(same!.exchange as number).toBeCloseTo(baseline!.exchange as number, 6);
    // The step that all others are held against is that one's.
    for (const { step, speedup } of ofType(own, 'candidate')) {
      expect((step as number) * (speedup as number)).toBeCloseTo(
        same!.step as number,
        6,
      );
    }
  });

  test('auto is not said to leave entries out', async () => {
    const lines = ofType(
      await plan('digits-topk', '--network', slow, '--compute', '1', '--ranks', '8'),
      'candidate',
    );
    const topk = lines.filter(({ method }) => method === 'topk');
    expect(topk.find(({ collective }) => collective === 'ok-topk')?.own).toBe(false);
    expect(topk.filter(({ own }) => own).length).toBeGreaterThanOrEqual(5);
  });

  test('measures what the model computes where nobody says, and leaves no run', async () => {
    const lines = await plan('digits-topk', '--network', fast, '--ranks', '2');
    const [basis] = lines;
    expect(basis!.computeOrigin).toBe('measured with one rank on this computer');
    expect(basis!.compute as number).toBeGreaterThan(0.01);
    expect(basis!.compute as number).toBeLessThan(10_000);
    const { stdout } = await home.run(['runs', 'list', '--json']);
    expect(stdout).not.toContain('computation of');
  });

  test('of a model of another size has the memory of that one', async () => {
    const given = ['--network', fast, '--ranks', '2', '--compute', '1'];
    const lines = await plan('digits-topk', ...given, '--parameters', '2M');
    const parameters = lines[0]!.parameters as number;
    expect(parameters / 2e6).toBeCloseTo(1, 1);
    const [{ parts }] = ofType(lines, 'memory') as unknown as [
      { readonly parts: readonly { readonly name: string; readonly bytes: number }[] },
    ];
    const bytesOf = (part: string) => parts.find(({ name }) => name === part)?.bytes;
    expect(bytesOf('gradient')).toBe(4 * parameters);
    // Only the model’s own step can be traced.
    expect(bytesOf('computing')).toBeUndefined();
  });

  test('a sweep is predicted as a whole, and why a point has no prediction', async () => {
    const file = path.join(directory, 'planned.yaml');
    await writeFile(
      file,
      'name: planned\nbase: digits-topk\nseeds: 2\n' +
        'list: [{ iterations: 100 }, { parallelism.kind: asynchronous }]\n',
    );
    const { code, stdout } = await commands.run(['sweep', file, '--plan', '--json']);
    expect(code).toBe(0);
    const lines = stdout.trim().split('\n');
    const [first, second, whole] = lines.map((line) => JSON.parse(line) as Line);
    const { bytes, step, time } = first!.forecast as Record<string, number>;
    expect(time).toBeCloseTo(100 * step!, 6);
    expect(second).toMatchObject({ error: { code: 'PARALLELISM_MISFIT' } });
    const sums = { runs: 4, predicted: 2, time: 2 * time!, bytes: 2 * bytes! };
    expect(whole).toMatchObject(sums);
    const { stdout: sweeps } = await commands.run(['sweeps', 'list', '--json']);
    expect(sweeps).not.toContain('planned');
  });

  /** What a preset needs to be predicted here, or the code of why it never can be. */
  const presetCases: Readonly<Record<string, () => readonly string[] | string>> = {
    'digits-asynchronous': () => 'PARALLELISM_MISFIT',
    'digits-pipeline': () => 'PLAN_PIPELINE',
    'mnist-a2sgd': () => ['--set', `workload.data=${mnist}`],
    'mnist-topk': () => ['--set', `workload.data=${mnist}`],
    // Its 138 million elements take half a minute.
    'synthetic-vgg': () => ['--set', 'workload.synthetic={layers: [300000, 70, 4000]}'],
  };

  // A dense one, one with a table, one that is refused, one that needs settings.
  const few = ['quickstart', 'clicks-dlrm', 'digits-pipeline', 'synthetic-vgg'];
  test.each(effort({ quick: few, soak: presetFiles }))(
    'predicts a step of the preset %s',
    async (preset) => {
      const needs = presetCases[preset]?.() ?? [];
      const given = ['--network', slow, '--compute', '5', '--ranks', '2'];
      if (typeof needs === 'string') {
        const refused = await commands.run(['plan', preset, ...given]);
        expect(refused).toMatchObject({ code: 2, stdout: '' });
        expect(refused.stderr).toMatch(new RegExp(`^gradwire: ${needs}: [^\\n]*\\n$`));
        return;
      }
      const lines = await plan(preset, ...given, ...needs);
      const own = ofType(lines, 'candidate').filter((line) => line.own);
      expect(own.length).toBeGreaterThan(0);
      expect(ofType(lines, 'verdict')).toHaveLength(1);
    },
  );

  test('predicts a synthetic gradient by its size', async () => {
    const lengths = [300_000, 70, 4000];
    const lines = await plan(
      ...['synthetic-vgg', '--network', slow, '--compute', '5'],
      ...['--set', `workload.synthetic={layers: [${lengths.join(',')}]}`],
    );
    const dense = ofType(lines, 'candidate').find(({ method }) => method === 'none');
    expect(dense!.payloadBytes).toBe(4 * lengths.reduce((sum, each) => sum + each));
  });

  test.each([
    [['--network', '/nowhere/network.json'], 'NETWORK_PROFILE_UNREADABLE'],
    [['--set', 'exchange.method=topq'], 'METHOD_UNKNOWN'],
    [['--ranks', '8,none'], 'numbers of ranks'],
  ])('refuses %j', async (args, what) => {
    const { code, stderr } = await commands.run([
      'plan',
      'digits-topk',
      '--compute',
      '1',
      ...args,
    ]);
    expect(stderr).toContain(what);
    expect(code).toBe(2);
  });
});
