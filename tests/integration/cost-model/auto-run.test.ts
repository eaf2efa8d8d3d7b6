/** Runs that are launched with a measured network, and what `auto` tells of it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GradwireHome } from '../../harness/gradwire.ts';

interface Line {
  readonly type: string;
  readonly code?: string;
  readonly message?: string;
  readonly rank?: number;
  readonly iteration?: number;
  readonly collective?: string;
  readonly consistent?: boolean;
}

/** One for all: its supervisor stays, and each run reads the profile as it then is. */
const home = new GradwireHome();
afterAll(() => home[Symbol.asyncDispose]());

const ITERATIONS = 12;

const RUN = [
  'run',
  'digits-topk',
  '--set',
  'world.ranks=2',
  '--set',
  `iterations=${ITERATIONS}`,
  '--set',
  'evaluateEvery=0',
  '--json',
];

async function run(...more: readonly string[]): Promise<readonly Line[]> {
  const { code, stdout, stderr } = await home.run([...RUN, ...more]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

function writeProfile(kernels: { merge: number; scatter: number }): void {
  const profile = {
    version: 1,
    measuredAt: 0,
    transport: 'tcp',
    nodes: ['here', 'here'],
    pairs: [{ ranks: [0, 1], alpha: 5e-5, beta: 1e-9 }],
    loaded: [],
    kernels: { add: 1e-10, select: 0, quantize: 0, dequantize: 0, ...kernels },
  };
  writeFileSync(path.join(home.directory, 'network.json'), JSON.stringify(profile));
}

const told = (lines: readonly Line[], code: string): readonly Line[] =>
  lines.filter((line) => line.type === 'notice' && line.code === code);

test('without a profile it says so; ranks agree on every iteration’s collective', async () => {
  const lines = await run();
  const [chosen] = told(lines, 'COLLECTIVE_CHOSEN');
  expect(chosen?.message).toMatch(/no network profile has been measured$/);
  const byIteration = new Map<number, Set<string>>();
  for (const { type, iteration, collective } of lines) {
    if (type !== 'iteration') continue;
    const seen = byIteration.get(iteration!) ?? new Set();
    byIteration.set(iteration!, seen.add(collective!));
  }
  expect(byIteration.size).toBe(ITERATIONS);
  for (const seen of byIteration.values()) expect(seen.size).toBe(1);
  expect(lines.at(-1)).toMatchObject({ type: 'done', consistent: true });
  // Told by one rank for all.
  expect(told(lines, 'COLLECTIVE_CHOSEN')).toHaveLength(1);
});

test('with a profile the first choice is by what it says', async () => {
  // Where merging costs ten thousand times what it does, nobody merges.
  writeProfile({ merge: 1e-4, scatter: 1e-9 });
  const lines = await run();
  const [chosen] = told(lines, 'COLLECTIVE_CHOSEN');
  expect(chosen?.message).toMatch(
    /^auto chose dsar-split-allgather: .*the measured network profile$/,
  );
  const first = lines.find(({ type }) => type === 'iteration');
  expect(first?.collective).toBe('dsar-split-allgather');
});

test('a profile that is damaged is an error that names its file', async () => {
  writeFileSync(path.join(home.directory, 'network.json'), '{"version":');
  const { code, stderr } = await home.run(RUN);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^gradwire: NETWORK_PROFILE_UNREADABLE: .*network\.json/);
});
