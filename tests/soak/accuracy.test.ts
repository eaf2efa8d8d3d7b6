/**
 * What compression costs in accuracy, on real digits: three seeds of each setting, with and
 * without momentum, beside uncompressed runs of the same length (docs/accuracy.md).
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GradwireHome, succeeded } from '../harness/gradwire.ts';
import { ofType } from '../harness/records.ts';
import { realDataWith } from '../harness/real-data.ts';

const SEEDS = [11, 12, 13];
const ITERATIONS = 500;
const RULES = [
  { lr: 0.1, momentum: 0 },
  { lr: 0.02, momentum: 0.9 },
] as const;
/** By how many points of accuracy each may be below `none`, in the mean. */
const METHODS = [
  ['topk 1 %', { method: 'topk', ratio: 0.01 }, 1],
  ['qsgd 4 bit', { method: 'qsgd', bits: 4 }, 1],
  ['scalecom 1 %', { method: 'scalecom', ratio: 0.01, beta: 1 }, 1],
  ['dct 5 %', { method: 'dct', ratio: 0.05 }, 1],
  ['a2sgd', { method: 'a2sgd' }, 2],
] as const;

const data = realDataWith('t10k-images-idx3-ubyte.gz');

let home: GradwireHome;
beforeAll(() => {
  home = new GradwireHome();
});
afterAll(async () => {
  await home?.[Symbol.asyncDispose]();
});

/** In points, of the final models. */
async function meanAccuracy(
  { lr, momentum }: (typeof RULES)[number],
  exchange: Readonly<Record<string, unknown>>,
): Promise<number> {
  let sum = 0;
  for (const seed of SEEDS) {
    const run = home.startQuickstart([
      ...['workload.dataset=mnist', `workload.data=${data!}`],
      ...[
        `iterations=${ITERATIONS}`,
        'evaluateEvery=0',
        `seed=${seed}`,
        'backend=wasm',
      ],
      ...[`optimizer.lr=${lr}`, `optimizer.momentum=${momentum}`],
      ...Object.entries(exchange).map(
        ([key, value]) => `exchange.${key}=${String(value)}`,
      ),
    ]);
    succeeded(await run.finished);
    sum += 100 * ofType(run.records, 'done')[0]!.metric!;
  }
  return sum / SEEDS.length;
}

describe.skipIf(data === undefined).each(RULES)('at %o', (rule) => {
  let dense: number;
  beforeAll(async () => {
    dense = await meanAccuracy(rule, { method: 'none' });
  });

  test('uncompressed training learns', () => {
    expect(dense).toBeGreaterThan(93);
  });

  test.each(METHODS)('%s comes near it', async (name, exchange, points) => {
    const reached = await meanAccuracy(rule, exchange);
    process.stdout.write(
      `${name}: ${reached.toFixed(2)} %, uncompressed ${dense.toFixed(2)} %\n`,
    );
    expect(dense - reached).toBeLessThanOrEqual(points);
  });
});
