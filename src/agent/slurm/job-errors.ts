/** Errors of a run whose job is over, or about to be. */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { JobStatus } from './slurm-client.ts';
import { jobText, onCluster, type SlurmJob } from './slurm-job.ts';

/** The error of a job that has ended; not restartable if the job was ended on purpose. */
export function endOf(
  job: SlurmJob,
  { state }: Pick<JobStatus, 'state'>,
  node: string,
): GradwireError {
  const cancelled = state === 'CANCELLED';
  const sacct = ['sacct', ...onCluster(job), '-j', job.id].join(' ');
  return failure(
    cancelled ? 'JOB_ENDED' : 'JOB_LOST',
    `Slurm job ${jobText(job)} ${state === 'COMPLETING' ? 'does not come to an end' : 'has ended'}: ${state}`,
    {
      place: node,
      next: cancelled
        ? 'It may have been cancelled by a user. Launch the run again.'
        : `Ask Slurm why (${sacct}), or launch the run again; with onFailure: restart it submits another job by itself.`,
    },
  );
}

export function endingOf(job: SlurmJob, end: number, node: string): GradwireError {
  const at = new Date(end).toISOString().slice(11, 16);
  return failure(
    'ALLOCATION_ENDING',
    `Slurm job ${jobText(job)} reaches its time limit at ${at} UTC, before the end of the run`,
    {
      place: node,
      next: 'Request more time (--time), or set onFailure: restart to resume in another job.',
    },
  );
}
