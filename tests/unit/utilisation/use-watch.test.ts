/** The watch over a real machine: this one, with this process as its rank. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  GpuReadings,
  type GpuReading,
} from '../../../src/agent/supervisor/utilisation/gpu-readings.ts';
import { RankFamilies } from '../../../src/agent/supervisor/utilisation/rank-families.ts';
import { UseWatch } from '../../../src/agent/supervisor/utilisation/use-watch.ts';
import { parseRecord } from '../../../src/shared/records/record-kinds.ts';
import type { UtilisationRecord } from '../../../src/shared/records/utilisation.ts';

const onLinux = test.skipIf(process.platform !== 'linux');

onLinux('tells of each second, and places it at the iterations under way', async () => {
  let iteration = 7;
  const told: UtilisationRecord[] = [];
  const first = Promise.withResolvers<null>();
  const watch = new UseWatch({
    node: hostname(),
    begun: Date.now(),
    processes: new Map([
      [0, process.pid],
      [1, 2 ** 30],
    ]),
    iteration: () => iteration,
    told: (record) => {
      told.push(record);
      first.resolve(null);
    },
  });
  iteration = 12;
  await first.promise;
  watch.close();
  const [record] = told;
  // It is what a store takes.
  expect(parseRecord(structuredClone(record))).toEqual(record);
  const { from, processors, ranks, to } = record!;
  expect([from, to]).toEqual([7, 12]);
  expect(processors!.busy).toBeGreaterThan(0);
  // A process that is gone has no use.
  expect(ranks).toMatchObject([{ rank: 0, busy: expect.any(Number) as number }, {}]);
  expect(ranks[1]).toEqual({ rank: 1 });
});

onLinux('a rank is charged for what it has started', async () => {
  // The shell itself only waits.
  const rank = spawn('sh', ['-c', 'sh -c "while :; do :; done"; :'], {
    detached: true,
  });
  const families = new RankFamilies(new Map([[3, rank.pid!]]));
  await expect
    .poll(() => families.read().get(3)?.busy, { timeout: 30_000 })
    .toBeGreaterThan(0);
  const gone = once(rank, 'exit');
  process.kill(-rank.pid!, 'SIGKILL');
  await gone;
  expect(families.read().size).toBe(0);
});

onLinux(
  'what nvidia-smi says is read line by line; without it nothing is',
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gradwire-smi-'));
    const command = path.join(folder, 'nvidia-smi');
    // As it prints with --format=csv,noheader,nounits, with a warning of its own between.
    const line = '00000000:3B:00.0, NVIDIA A100-SXM4-40GB, 37, 1024, 40960';
    writeFileSync(
      command,
      `#!/bin/sh\nprintf '${line.slice(0, 30)}'; sleep 0.1\n` +
        `printf '${line.slice(30)}\\nWARNING: infoROM is corrupted\\n'; exec sleep 60\n`,
    );
    chmodSync(command, 0o755);
    const reading = Promise.withResolvers<GpuReading>();
    const readings = new GpuReadings(reading.resolve, command);
    expect(await reading.promise).toEqual({
      bus: '00000000:3B:00.0',
      name: 'NVIDIA A100-SXM4-40GB',
      busy: 0.37,
      memory: 2 ** 30,
      total: 40 * 2 ** 30,
    });
    readings.close();
    rmSync(folder, { recursive: true });
    new GpuReadings(() => expect.unreachable(), command).close();
  },
);
