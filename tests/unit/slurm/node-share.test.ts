import { expect, test } from 'vitest';
import { jobOptions, nodeShare } from '../../../src/agent/slurm/node-share.ts';
import { slurmSettingsSchema } from '../../../src/shared/slurm-settings.ts';

const settings = (given: Record<string, unknown>) => slurmSettingsSchema.parse(given);

test.each([
  [8, {}, { nodes: 1, cpusPerNode: 8 }],
  [8, { ranksPerNode: 4 }, { nodes: 2, cpusPerNode: 4 }],
  [9, { ranksPerNode: 4 }, { nodes: 3, cpusPerNode: 3 }],
  [8, { nodes: 4 }, { nodes: 4, cpusPerNode: 2 }],
  [2, { nodes: 4 }, { nodes: 2, cpusPerNode: 1 }],
  [8, { nodes: 2, cpusPerNode: 32 }, { nodes: 2, cpusPerNode: 32 }],
])('%i ranks on %o get %o', (ranks, given, share) => {
  expect(nodeShare(ranks, settings(given))).toEqual(share);
});

test('what was given of the job reaches sbatch', () => {
  const given = settings({
    ...{ partition: 'gpu', account: 'lab', time: '2:00:00', gpusPerNode: 4 },
    options: ['--qos=high'],
  });
  const options = jobOptions('r1', { nodes: 2, cpusPerNode: 4 }, given);
  expect(options.slice(-5)).toEqual([
    ...['--partition=gpu', '--account=lab', '--time=2:00:00'],
    ...['--gpus-per-node=4', '--qos=high'],
  ]);
});

test.each([
  [{ partition: '-x' }],
  [{ partition: 'a b' }],
  [{ time: 'soon' }],
  [{ nodes: 0 }],
  [{ options: ['qos=high'] }],
  [{ setup: ['a\nb'] }],
  [{ partitoin: 'gpu' }],
])('%o is refused', (given) => {
  expect(slurmSettingsSchema.safeParse(given).success).toBe(false);
});
