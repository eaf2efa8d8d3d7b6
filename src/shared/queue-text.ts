/** Texts about a run that waits for nodes of its cluster, and about the nodes it gets. */
import type { AllocatedRecord, QueuedRecord } from './records.ts';
import { formatDateTime } from './units.ts';

type Queue = Pick<QueuedRecord, 'job' | 'reason' | 'expected'>;
type Allotted = Pick<AllocatedRecord, 'job' | 'computeNodes' | 'until'>;

/** `queued (job 17, Priority, expected to start 2026-03-01 12:00)` */
export function describeQueued({ job, reason, expected }: Queue): string {
  const parts = [`job ${job}`];
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
  return (
    (Object.hasOwn(MEANINGS, reason) ? MEANINGS[reason] : undefined) ??
    LIMITS.find(([beginning]) => reason.startsWith(beginning))?.[1]
  );
}

/** `Resources (too few nodes are free)` */
export function reasonText(reason: string): string {
  const meaning = reasonMeaning(reason);
  return meaning === undefined ? reason : `${reason} (${meaning})`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  Resources: 'too few nodes are free',
  Priority: 'jobs of higher priority come first',
  PartitionTimeLimit: 'its time limit exceeds the partition’s: it will never start',
  PartitionNodeLimit:
    'it asks for more nodes than the partition allows: it will never start',
  PartitionDown: 'the partition is not accepting jobs',
  PartitionInactive: 'the partition is not accepting jobs',
  BadConstraints: 'no node meets its requirements: it will never start',
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
