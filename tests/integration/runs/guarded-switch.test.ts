/** A guarded switch in a real run: it makes the step longer than it may be, and the run goes back by itself. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { CommandHost } from '../../harness/command-host.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { untilAsync } from '../../harness/processes.ts';

const home = new GradwireHome();
const commands = new CommandHost(home);
afterAll(async () => {
  await commands[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

test('that exceeds its limit is taken back, and its record says why', async () => {
  // Uncompressed, the wire alone takes 160 ms; a hundredth of it, far less than a busy computer’s delays.
  const spec = {
    workload: {
      model: 'synthetic-gradient',
      dataset: 'none',
      synthetic: { layers: [100_000], computeMs: 5, overlap: 0 },
      batchPerRank: 1,
    },
    world: { ranks: 2 },
    exchange: { method: 'topk', ratio: 0.001 },
    network: { bandwidth: '20 Mbit/s', latency: '100 µs' },
    iterations: 100_000,
    evaluateEvery: 0,
  };
  const file = path.join(home.directory, 'guarded.json');
  writeFileSync(file, JSON.stringify(spec));
  const started = await commands.run(['run', file, '--detach']);
  expect(started).toMatchObject({ code: 0 });
  const run = started.stdout.trim();
  const detail = async (): Promise<RunDetail> =>
    JSON.parse(
      (await commands.run(['runs', 'show', run, '--json'])).stdout,
    ) as RunDetail;
  await untilAsync(
    detail,
    ({ iterations }) => iterations > 40,
    'forty iterations with top-k',
  );
  const switched = await commands.run([
    ...['runs', 'switch', run, 'method=none', '--guard', 'step=3'],
  ]);
  expect(switched).toMatchObject({ code: 0, stderr: '' });
  const { events } = await untilAsync(
    detail,
    (shown) => shown.events.filter(({ type }) => type === 'switch').length > 1,
    'the way back',
  );
  const [there, back] = events.filter((event) => event.type === 'switch');
  expect(there).toMatchObject({ from: { method: 'topk' }, to: { method: 'none' } });
  expect(there?.why).toBeUndefined();
  expect(back).toMatchObject({ from: { method: 'none' }, to: { method: 'topk' } });
  expect(back?.why).toMatch(/step/);
  expect(back!.fence).toBeLessThanOrEqual(there!.fence + 60);
  expect(await commands.run(['runs', 'stop', run])).toMatchObject({ code: 0 });
});
