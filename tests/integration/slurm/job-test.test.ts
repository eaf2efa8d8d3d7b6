/** Whether Slurm would take a job: asked without leaving one behind. */
import { expect, test } from 'vitest';
import { testJob } from '../../../src/agent/slurm/job-test.ts';
import { until } from '../../harness/processes.ts';
import { FakeSlurm } from './fake-slurm.ts';
import { slurmSettings } from './slurm-runs.ts';

const JOB = {
  run: 'r1',
  ranks: 2,
  settings: slurmSettings({ nodes: 2, partition: 'fast' }),
  node: 'hpc',
};
const IS_TEST = 'case "$*" in *--test-only*)';
const REFUSAL = 'echo "sbatch: error: invalid partition specified: fast" >&2; exit 1';
/** Two answers of sbatch: to a test, and to a job. */
const slurm = (tested: string, submitted: string): FakeSlurm =>
  new FakeSlurm({
    sbatch: `cat >/dev/null; ${IS_TEST} ${tested};; esac; ${submitted}`,
    squeue: 'exit 0',
    scancel: 'exit 0',
    sleep: 'exit 0',
  });

/** Waits until whoever cancels the job has looked for it so often. */
const looked = (fake: FakeSlurm, times: number): Promise<unknown> =>
  until(
    () => fake.calls('squeue').filter((line) => line.includes('--states=pending')),
    ({ length }) => length === times,
    'the job to be looked for',
  );

test('a job that passes the test is not submitted', async () => {
  using fake = slurm('exit 0', REFUSAL);
  await testJob(JOB);
  expect(fake.calls('sbatch')).toHaveLength(1);
  expect(fake.calls('sbatch')[0]).toContain('--nodes=2');
  expect(fake.calls('sbatch')[0]).toContain('--partition=fast');
});

test('a job that is refused twice is refused, in Slurm’s words', async () => {
  using fake = slurm(REFUSAL, REFUSAL);
  await expect(testJob(JOB)).rejects.toMatchObject({
    code: 'SLURM_REFUSED',
    place: 'hpc',
    message: 'Slurm rejected the job: invalid partition specified: fast',
    next: expect.stringContaining(
      'asked for with --nodes=2 --cpus-per-task=1 --partition=fast. ',
    ) as string,
  });
  expect(fake.calls('sbatch')).toHaveLength(2);
});

test('a job that only the test refuses is taken, and the one submitted is cancelled', async () => {
  using fake = slurm(REFUSAL, 'echo 17');
  await testJob(JOB);
  await fake.called('scancel', / 17$/);
  await looked(fake, 1);
});

test('a Slurm that does not answer refuses nothing, and a job that it may have taken is looked for', async () => {
  const silence =
    'echo "sbatch: error: Unable to contact slurm controller" >&2; exit 1';
  using fake = slurm(silence, silence);
  await testJob({ ...JOB, lookForMs: 0 });
  // Until it is certain that there is none.
  await looked(fake, 7);
});
