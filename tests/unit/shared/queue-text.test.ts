/** What is said of a run that waits for its cluster. */
import { expect, test } from 'vitest';
import {
  describeAllocated,
  describeQueued,
  NO_JOB,
  reasonText,
  someNames,
} from '../../../src/shared/records/queue-text.ts';
import { queuedKind } from '../../../src/shared/records/queued.ts';

const at = new Date(2026, 2, 1, 12, 5).getTime();

test.each([
  [{ job: '17' }, 'queued (job 17)'],
  [{ job: '17', reason: 'Priority' }, 'queued (job 17, Priority)'],
  [
    { job: '17', reason: 'Resources', expected: at },
    'queued (job 17, Resources, expected to start 2026-03-01 12:05)',
  ],
])('%o', (queue, text) => {
  expect(describeQueued(queue)).toBe(text);
});

test('a run that Slurm takes no job of is said to wait, without a number', () => {
  const reason = 'sbatch: error: QOSMaxSubmitJobPerUserLimit';
  const queue = { job: NO_JOB, reason };
  const waits = 'waits to submit another job';
  expect(describeQueued(queue)).toBe(`queued (${waits}, ${reason})`);
  const names = { rank: String, machine: undefined };
  const text = (job: string) =>
    queuedKind.text({ type: 'queued', at: 1, node: 'hpc', job, reason }, names);
  expect(text(NO_JOB)).toMatchObject({ text: `${waits} at hpc: ${reason}` });
  expect(text('17')).toMatchObject({ text: `job 17 is queued at hpc: ${reason}` });
});

test('many nodes are counted', () => {
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  expect(someNames(names.slice(0, 8))).toBe('n0, n1, n2, n3, n4, n5, n6, n7');
  expect(someNames(names)).toMatch(/, n7 and 2 more$/);
  const given = { job: '3', computeNodes: ['n0'], until: at };
  expect(describeAllocated(given)).toBe('job 3 has n0 until 2026-03-01 12:05');
});

test.each([
  ['Resources', 'Resources (too few nodes are free)'],
  [
    'QOSMaxJobsPerUserLimit',
    'QOSMaxJobsPerUserLimit (a limit of its quality of service)',
  ],
  ['AssocGrpGRES', 'AssocGrpGRES (a limit of the account)'],
  [
    'PartitionConfig',
    'PartitionConfig (it asks for what the partition does not offer: it will never start)',
  ],
  ['SomethingNew', 'SomethingNew'],
  ['constructor', 'constructor'],
])('%s', (reason, text) => {
  expect(reasonText(reason)).toBe(text);
});
