/**
 * Gradients that no arena has room for, at their real sizes: synthetic ones, and a program's, which
 * checks every element of its averages. The largest needs 11 GB of memory.
 */
import { writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { GradwireHome, succeeded, type RunningCommand } from '../harness/gradwire.ts';

const MILLION = 1_000_000;
const EACH = 25 * MILLION;
const ITERATIONS = 3;

/** The end of a run whose ranks agree. */
async function finished(command: RunningCommand): Promise<void> {
  succeeded(await command.finished);
  expect(await command.record('done')).toMatchObject({
    reason: 'completed',
    iterations: ITERATIONS,
    consistent: true,
  });
}

const synthetic = (millions: number, exchange: object) => ({
  workload: {
    model: 'synthetic-gradient',
    dataset: 'none',
    batchPerRank: 1,
    synthetic: {
      computeMs: 1,
      layers: Array<number>((millions * MILLION) / EACH).fill(EACH),
    },
  },
  world: { ranks: 2 },
  iterations: ITERATIONS,
  exchange,
});

test.skipIf(freemem() < 12e9).each([
  [400, { method: 'topk', ratio: 0.01 }],
  [1000, { method: 'none' }],
])('%i million synthetic elements with %j', async (millions, exchange) => {
  await using home = new GradwireHome();
  const file = path.join(home.directory, 'spec.json');
  writeFileSync(file, JSON.stringify(synthetic(millions, exchange)));
  await finished(home.start(['run', '--json', file]));
});

test.skipIf(freemem() < 12e9)('a program of 400 million elements', async () => {
  await using home = new GradwireHome();
  const program = path.join(import.meta.dirname, 'large-program.ts');
  const sizes = [ITERATIONS, 16, EACH].map(String);
  const command = home.start([
    ...['exec', '--json', '--ranks', '2', '--method', 'topk'],
    ...['--set', 'exchange.ratio=0.01'],
    ...['--', process.execPath, program, ...sizes],
  ]);
  await finished(command);
});
