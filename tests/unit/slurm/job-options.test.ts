import { expect, test } from 'vitest';
import { jobOptions } from '../../../src/agent/slurm/job-options.ts';
import { makeMark } from '../../../src/agent/slurm/slurm-job.ts';
import { checkSlurmRun, nodeShare } from '../../../src/shared/spec/slurm-share.ts';
import {
  entryProblems,
  nodeEntrySchema,
} from '../../../src/shared/machines/node-entry.ts';
import { optionProblem } from '../../../src/shared/machines/slurm-options.ts';
import { parseExperimentSpec } from '../../../src/shared/spec/experiment-spec.ts';
import { slurmSettingsSchema } from '../../../src/shared/machines/slurm-settings.ts';

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
    partition: 'gpu',
    account: 'lab',
    time: '2:00:00',
    gpusPerNode: 4,
    options: ['--qos=high'],
  });
  const mark = makeMark('r1', given.options, {});
  const options = jobOptions(mark, { nodes: 2, cpusPerNode: 4 }, given);
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

test.each([
  [
    ['--qos=high'],
    { name: expect.stringMatching(/^gradwire r1 [0-9a-f]{8}$/) as string },
  ],
  [['-Jmine', '-HMb'], { name: 'mine', clusters: 'b' }],
  [
    ['--job-name=a,b', '--comm=billed to=x', '--clusters=b,c'],
    {
      name: 'a_b',
      clusters: 'b,c',
      comment: expect.stringMatching(/^billed to=x gradwire/),
    },
  ],
])('%j: the job is found again by %o', (options, mark) => {
  const made = makeMark('r1', options, {});
  expect(made).toMatchObject(mark);
  expect(made.name.endsWith(made.token) || made.comment!.endsWith(made.token)).toBe(
    true,
  );
});

test('the environment says the clusters if no option does', () => {
  const environment = { SLURM_CLUSTERS: 'a', SBATCH_CLUSTERS: 'b' };
  expect(makeMark('r1', [], environment).clusters).toBe('b');
  expect(makeMark('r1', ['-Mc'], environment).clusters).toBe('c');
});

// As sbatch reads them: beginnings of names, and flags before another option.
test.each([
  ['--array=1-3', /several/],
  ['--arr=1-3', /several/],
  ['-a1-3', /several/],
  ['-Ha1', /several/],
  ['--wait', /when the job has ended/],
  ['-W', /when the job has ended/],
  ['--test-only', /submits nothing/],
  ['--wrap=sleep 1', /script/],
  ['--requeue', /other nodes/],
  ['--', /ends the options/],
  ['-', /ends the options/],
  ['-p', /same word/],
  ['--clusters', /same word/],
])('the option %s is refused', (option, why) => {
  expect(optionProblem(option)).toMatch(why);
  const given = { slurm: { options: [option] }, name: 'hpc', destination: 'hpc' };
  expect(entryProblems(given)).toEqual([
    { path: 'slurm.options', message: expect.stringMatching(why) as string },
  ]);
  // One that was stored can still be read, and its runs are refused.
  expect(nodeEntrySchema.safeParse(given).success).toBe(true);
  expect(() => {
    checkSlurmRun(spec(4), settings({ options: [option] }));
  }).toThrow(
    expect.objectContaining({
      ...{ code: 'SLURM_OPTION_REFUSED', place: `--sbatch=${option}` },
    }),
  );
});

test.each([
  ['--qos=high'],
  ['--wait-all-nodes=1'],
  ['--dependency=singleton'],
  ['--parsable'],
  ['--hold'],
  ['-pgpu'],
  ['-HsQ'],
  ['-k'],
  ['--no-requeue'],
  ['--exclusive'],
  ['-Alab-a'],
])('the option %s is taken', (option) => {
  expect(optionProblem(option)).toBeUndefined();
});
