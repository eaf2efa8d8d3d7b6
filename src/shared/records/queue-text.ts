/** Texts about a run that waits for nodes of its cluster, and about the nodes it gets. */
import { formatDateTime } from '../words/units.ts';
import type { AllocatedRecord } from './allocated.ts';
import type { QueuedRecord } from './queued.ts';

type Queue = Pick<QueuedRecord, 'job' | 'reason' | 'expected'>;
/** Stands for a job's number while the scheduler has not taken the run's next job. */
export const NO_JOB = 'not yet submitted';

export const isSubmitted = ({ job }: Pick<QueuedRecord, 'job'>): boolean =>
  job !== NO_JOB;

/** `job 17 is queued`, or what the run waits for while there is no job. */
export const queuedJob = (queue: Pick<QueuedRecord, 'job'>): string =>
  isSubmitted(queue) ? `job ${queue.job} is queued` : 'waits to submit another job';

type Allotted = Pick<AllocatedRecord, 'job' | 'computeNodes' | 'until'>;

/** `queued (job 17, Priority, expected to start 2026-03-01 12:00)` */
export function describeQueued({ job, reason, expected }: Queue): string {
  const parts = [isSubmitted({ job }) ? `job ${job}` : queuedJob({ job })];
  if (reason !== undefined) parts.push(reason);
  if (expected !== undefined) {
    parts.push(`expected to start ${formatDateTime(expected)}`);
  }
  return `queued (${parts.join(', ')})`;
}

/** `job 17 has n0, n1 until 2026-03-01 14:00` */
export function describeAllocated({ job, computeNodes, until }: Allotted): string {
  return (
    `job ${job} has ${someNames(computeNodes)}` +
    (until === undefined ? '' : ` until ${formatDateTime(until)}`)
  );
}

const SHOWN = 8;

/** `n0, n1`; of many, the first eight and the number of others. */
export function someNames(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * The meaning of a Slurm reason (squeue(1), job reason codes) that is not clear from its name;
 * undefined for all others.
 */
export function reasonMeaning(reason: string): string | undefined {
  const never = valueOf(NEVER, reason);
  if (never !== undefined) return `${never.why}: it will never start`;
  return (
    valueOf(MEANINGS, reason) ??
    LIMITS.find(([beginning]) => reason.startsWith(beginning))?.[1]
  );
}

/** Says why a job will never start, and what to do; undefined for any other job. */
export function queueAdvice({
  job,
  node,
  reason,
}: Pick<QueuedRecord, 'job' | 'node' | 'reason'>): string | undefined {
  const never = reason === undefined ? undefined : valueOf(NEVER, reason);
  if (never === undefined) return undefined;
  return (
    `job ${job} will never start: ${never.why} (${reason}). Stop the run, and change ` +
    `what its jobs ask for: gradwire nodes edit ${node} ${never.options}.`
  );
}

/** `Resources (too few nodes are free)` */
export function reasonText(reason: string): string {
  const meaning = reasonMeaning(reason);
  return meaning === undefined ? reason : `${reason} (${meaning})`;
}

const valueOf = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Reasons of jobs that never start as they are, and the options of `nodes edit` to change. */
const NEVER: Readonly<
  Record<string, { readonly why: string; readonly options: string }>
> = {
  PartitionTimeLimit: {
    why: 'its time limit exceeds the partition’s',
    options: '--time LIMIT',
  },
  PartitionNodeLimit: {
    why: 'it asks for more nodes than the partition allows',
    options: '--nodes N',
  },
  PartitionConfig: {
    why: 'it asks for what the partition does not offer',
    options: '--partition NAME, --time LIMIT or --nodes N',
  },
  BadConstraints: {
    why: 'no node meets its requirements',
    options: '--cpus-per-node N, --gpus-per-node N or --sbatch=OPTION',
  },
};

const MEANINGS: Readonly<Record<string, string>> = {
  Resources: 'too few nodes are free',
  Priority: 'jobs of higher priority come first',
  PartitionDown: 'the partition is not accepting jobs',
  PartitionInactive: 'the partition is not accepting jobs',
  ReqNodeNotAvail: 'a node that it needs is down or reserved',
  JobHeldUser: 'held by its owner until scontrol release',
  JobHeldAdmin: 'held by an administrator',
  BeginTime: 'its start time has not been reached',
  Dependency: 'it waits for another job',
  CONFIGURING: 'its nodes are starting',
};

const LIMITS = [
  ['QOS', 'a limit of its quality of service'],
  ['Assoc', 'a limit of the account'],
] as const;
