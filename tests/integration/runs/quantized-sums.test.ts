/** A run whose sums travel as floats, from its spec to what is shown of it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommandHost } from '../../harness/command-host.ts';
import { effort } from '../../harness/effort.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { ofType } from '../../harness/records.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';

const RANKS = effort({ quick: 3, soak: 4 });
/** Parameters of the model. */
const N = 199_210;

let home: GradwireHome;
let commands: CommandHost;
beforeAll(() => {
  home = new GradwireHome();
  commands = new CommandHost(home);
});
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const SPEC = `
name: floats of 8 bits
workload: { model: fnn3, dataset: digits, batchPerRank: 16 }
world: { ranks: ${RANKS} }
backend: wasm
iterations: 60
evaluateEvery: 0
exchange:
  method: none
  quantizeSums: { format: e4m3 }
`;

test('trains, is shown, and switches to levels and back', async () => {
  const file = path.join(home.directory, 'floats.yaml');
  writeFileSync(file, SPEC);
  const { code, stderr, stdout } = await commands.run([
    ...['run', file, '--json'],
    ...['--switch', '20:quantizeSums={bits: 8}'],
    ...['--switch', '40:quantizeSums.format=e5m2'],
    ...['--switch', '50:quantizeSums.format=bf16'],
  ]);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunRecord);
  const [started] = ofType(records, 'started');
  expect(started!.plan).toMatchObject({
    collective: 'scatter-reduce-allgather',
    quantizeSums: { format: 'e4m3' },
  });
  expect(
    ofType(records, 'switch').map(({ fence, from, to }) => [
      ...[fence, from.quantizeSums, to.quantizeSums],
    ]),
  ).toEqual([
    [20, { format: 'e4m3' }, { bits: 8, bucket: 1024, scale: 'max' }],
    [40, { bits: 8, bucket: 1024, scale: 'max' }, { format: 'e5m2' }],
    [50, { format: 'e5m2' }, { format: 'bf16' }],
  ]);
  expect(ofType(records, 'done')[0]).toMatchObject({ consistent: true });

  const iterations = ofType(records, 'iteration');
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const lossIn = (from: number, to: number): number =>
    mean(
      iterations
        .filter(({ iteration }) => iteration >= from && iteration < to)
        .map(({ loss }) => loss!),
    );
  expect(lossIn(55, 60)).toBeLessThan(lossIn(0, 5) / 2);
  // To all others in both phases, of each element two bytes, or one and one for each 32.
  const sums = 2 * (RANKS - 1) * (N / RANKS);
  for (const { bytes, iteration } of iterations) {
    if (iteration >= 20 && iteration < 40) continue;
    const sent = bytes.wireSent! - bytes.framingSent!;
    const usual = sums * (iteration < 50 ? 1 + 1 / 32 : 2);
    expect(sent / usual, `iteration ${iteration}`).toBeGreaterThan(0.999);
    expect(sent / usual, `iteration ${iteration}`).toBeLessThan(1.01);
  }

  const shown = await commands.run(['runs', 'show', 'last']);
  expect(shown.stdout).toMatch(
    /iteration 20: none over scatter-reduce-allgather in e4m3 → none over scatter-reduce-allgather in 8 bits/,
  );
  const refused = await commands.run([
    ...['run', file, '--set', 'exchange.quantizeSums.bits=4'],
  ]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(
    '"exchange.quantizeSums.bits" is 4: levels have bits, bucket and scale, floats only a format',
  );
});
