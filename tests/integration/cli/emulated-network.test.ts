/** An emulated network from the command line: what is emulated, and that it is said. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { sumPhases } from '../../../src/shared/records/phases.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import type { RunDetail, RunSummary } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const BANDWIDTH = 50e6;
/** ms that a link takes for so many bytes at least. */
const atLeast = (bytes: number): number => (8000 * bytes) / BANDWIDTH;

test('a run over an emulated network says so, takes its time, and learns the same', async () => {
  const run = async (...network: string[]) => {
    const { code, stdout, stderr } = await commands.run([
      ...['run', 'quickstart', '--json', '--set', 'world.ranks=2'],
      ...['--set', 'iterations=4', '--set', 'evaluateEvery=0'],
      ...network.flatMap((setting) => ['--set', setting]),
    ]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RunRecord);
  };
  const plain = await run('exchange.collective=ring');
  const emulated = await run(
    'exchange.collective=ring',
    'network.bandwidth=50 Mbit/s',
    'network.latency=0.2 ms',
  );
  const started = (records: readonly RunRecord[]) =>
    records.find((record) => record.type === 'started');
  expect(started(plain)).not.toHaveProperty('emulated');
  expect(started(emulated)).toMatchObject({
    emulated: { bandwidth: 50e6, latency: 0.2 },
  });
  const iterations = emulated.filter((record) => record.type === 'iteration');
  expect(iterations).toHaveLength(8);
  // Of one rank, since ranks are not in step at the ends of iterations.
  const wall = iterations
    .filter(({ rank }) => rank === 0)
    .reduce((sum, record) => sum + record.wall, 0);
  const received = iterations
    .filter(({ rank, iteration }) => rank === 0 && iteration < 3)
    .reduce((sum, { bytes }) => sum + bytes.wireReceived!, 0);
  expect(wall).toBeGreaterThan(atLeast(received) / 2);
  for (const { phases, wall: all } of iterations) {
    const sum = sumPhases(phases);
    expect(sum / all).toBeCloseTo(1, 6);
  }
  const weights = (records: readonly RunRecord[]) =>
    records.find((record) => record.type === 'done')?.weights;
  expect(weights(emulated)).toBe(weights(plain));

  const listed = (await commands.run(['runs', 'list', '--json'])).stdout
    .trim()
    .split('\n');
  const [newest, oldest] = listed.map((line) => JSON.parse(line) as RunSummary);
  expect(newest?.emulated).toBe('emulated 50 Mbit/s, 200 µs');
  expect(oldest).not.toHaveProperty('emulated');
  expect((await commands.run(['runs', 'list'])).stdout).toContain('emulated 50 Mbit/s');

  const shown = await commands.run(['runs', 'show', 'last']);
  expect(shown.stdout).toContain('network emulated 50 Mbit/s, 200 µs');
  const json = await commands.run(['runs', 'show', 'last', '--json']);
  const detail = JSON.parse(json.stdout) as RunDetail;
  expect(detail.spec.network).toEqual({ bandwidth: '50 Mbit/s', latency: '200 µs' });
});

test(
  'auto uses the emulated network, not the measured one',
  { tags: 'soak' },
  async () => {
    const { code, stdout } = await commands.run([
      ...['run', 'quickstart', '--json', '--set', 'world.ranks=2'],
      ...['--set', 'iterations=2', '--set', 'network.bandwidth=1 Gbit/s'],
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/COLLECTIVE_CHOSEN.*the emulated network/);
  },
);

test('a plan is predicted for the emulated network', async () => {
  const { code, stdout } = await commands.run([
    ...['plan', 'quickstart', '--compute', '1', '--ranks', '4', '--json'],
    ...['--set', 'network.bandwidth=100 Mbit/s', '--set', 'network.latency=1 ms'],
  ]);
  expect(code).toBe(0);
  const [basis] = stdout.split('\n');
  const { network, constants } = JSON.parse(basis!) as {
    network: string;
    constants: { alpha: number; beta: number }[];
  };
  expect(network).toBe('emulated 100 Mbit/s, 1 ms');
  expect(constants[0]!.beta).toBeCloseTo(8e-8 * (1538 / 1448), 10);
  expect(constants[0]!.alpha).toBeGreaterThanOrEqual(1e-3);
});

test('allreduce takes what its bytes take on such a link, and gives the same bits', async () => {
  const folder = path.join(home.directory, 'vectors');
  mkdirSync(folder);
  const file = (name: string, rank: number | string) =>
    path.join(folder, `${name}${rank}.f32`);
  for (const rank of [0, 1]) {
    const vector = Float32Array.from({ length: 50_000 }, (_, i) => Math.sin(i + rank));
    writeFileSync(file('in', rank), vector);
  }
  const reduce = async (name: string, ...more: string[]) => {
    const { code, stdout, stderr } = await commands.run([
      ...['allreduce', '--ranks', '2', '--algorithm', 'ring', '--json'],
      ...['--in', file('in', '{rank}'), '--out', file(name, '{rank}'), ...more],
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout) as { ms: number; wireSent: number[]; emulated?: unknown };
  };
  const plain = await reduce('plain');
  const emulated = await reduce('emulated', '--emulate', 'bandwidth=50Mbit/s');
  expect(plain).not.toHaveProperty('emulated');
  expect(emulated).toMatchObject({
    emulated: { bandwidth: 50e6, latency: 0 },
    wireSent: plain.wireSent,
  });
  expect(emulated.ms).toBeGreaterThan(atLeast(emulated.wireSent[0]!));
  for (const rank of [0, 1]) {
    expect(readFileSync(file('emulated', rank))).toEqual(
      readFileSync(file('plain', rank)),
    );
  }
  const wrong = await commands.run([
    ...['allreduce', '--ranks', '2', '--in', 'a{rank}', '--out', 'b{rank}'],
    ...['--emulate', 'bandwidth=fast'],
  ]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/EMULATE_INVALID.*"bandwidth" is "fast"/);
});
