/** The time of an exchange as figures measure it, beside what the network that it passes allows. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { exchangeTime } from '../../../src/reproduce/run-measures.ts';
import type { RunRecord } from '../../../src/shared/records/record-kinds.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Sockets and buffers have grown to their final size by then. */
const FROM = 2;

test('a reduction takes no less than its bytes do', async () => {
  // The wire takes 170 ms, far more than a busy computer delays one of the two ranks.
  const spec = {
    workload: {
      model: 'synthetic-gradient',
      dataset: 'none',
      synthetic: { layers: [1_048_576], computeMs: 20, overlap: 0 },
      batchPerRank: 1,
    },
    world: { ranks: 2 },
    exchange: {
      method: 'topk',
      ratio: 0.25,
      collective: 'ssar-recursive-doubling',
    },
    network: { bandwidth: '100 Mbit/s', latency: '500 µs' },
    iterations: 10,
    evaluateEvery: 0,
  };
  const file = path.join(home.directory, 'reduction.json');
  writeFileSync(file, JSON.stringify(spec));
  const { code, stderr, stdout } = await commands.run(['run', file, '--json']);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const records = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunRecord);
  const sent = records.flatMap((record) =>
    record.type === 'iteration' && record.iteration >= FROM
      ? [record.bytes.wireSent!]
      : [],
  );
  expect(sent).toHaveLength(2 * 8);
  // Of a rank and an iteration; each has a line of its own in either direction.
  const least = (8000 * Math.min(...sent)) / 100e6;
  expect(least).toBeGreaterThan(160);
  expect(exchangeTime(records, FROM)).toBeGreaterThanOrEqual(0.9 * least);
});
