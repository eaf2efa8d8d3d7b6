import { expect, test } from 'vitest';
import { jobOptions } from '../../../src/agent/slurm/job-options.ts';
import { checkSlurmRun, nodeShare } from '../../../src/shared/slurm-share.ts';
import { parseExperimentSpec } from '../../../src/shared/experiment-spec.ts';
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

const spec = (ranks: number, network?: object) =>
  parseExperimentSpec({
    workload: { model: 'fnn3', dataset: 'digits' },
    world: { ranks, nodes: ['hpc'] },
    ...(network === undefined ? {} : { network }),
  });
const gigabit = { bandwidth: '1 Gbit/s', latency: '50 µs' };

test.each([
  [spec(4), {}],
  [spec(4), { nodes: 2 }],
  [spec(4, gigabit), {}],
  [spec(4, gigabit), { nodes: 1 }],
  // One rank needs one node.
  [spec(1, gigabit), { nodes: 2 }],
])('%# is a run for such a cluster', (wanted, given) => {
  expect(() => {
    checkSlurmRun(wanted, settings(given));
  }).not.toThrow();
});

test.each([
  [spec(4), { nodes: 1, ranksPerNode: 2 }, 'SLURM_TOO_SMALL', 'world.ranks'],
  [spec(4, gigabit), { ranksPerNode: 2 }, 'NETWORK_UNSUPPORTED', 'network'],
  [spec(2, gigabit), { nodes: 2 }, 'NETWORK_UNSUPPORTED', 'network'],
  [
    spec(4, { ...gigabit, pairs: [{ ...gigabit, between: ['hpc', 'hpc'] }] }),
    { nodes: 1 },
    'NETWORK_UNSUPPORTED',
    'network.pairs',
  ],
])('%# is none', (wanted, given, code, place) => {
  expect(() => {
    checkSlurmRun(wanted, settings(given));
  }).toThrow(expect.objectContaining({ code, place, next: expect.any(String) }));
});
