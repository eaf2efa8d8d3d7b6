/** What is said of a run that waits for nodes of its cluster, and of what it is given there. */
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

/** `n0, n1`; of many, the first eight and how many more. */
export function someNames(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * What a reason of Slurm's means (squeue(1), job reason codes), where its word alone may
 * not say it; undefined for all others.
 */
export function reasonMeaning(reason: string): string | undefined {
  return (
    (Object.hasOwn(MEANINGS, reason) ? MEANINGS[reason] : undefined) ??
    LIMITS.find(([beginning]) => reason.startsWith(beginning))?.[1]
  );
}

/** `Resources (too few nodes are free now)` */
export function reasonText(reason: string): string {
  const meaning = reasonMeaning(reason);
  return meaning === undefined ? reason : `${reason} (${meaning})`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  Resources: 'too few nodes are free now',
  Priority: 'jobs of higher priority come first',
  PartitionTimeLimit: 'the partition allows less time: it will not start like this',
  PartitionNodeLimit: 'the partition allows fewer nodes: it will not start like this',
  PartitionDown: 'the partition takes no jobs now',
  PartitionInactive: 'the partition takes no jobs now',
  BadConstraints: 'no node has what was asked for: it will not start like this',
  ReqNodeNotAvail: 'a node that it needs is down or reserved',
  JobHeldUser: 'held by its owner, until scontrol release',
  JobHeldAdmin: 'held by those who run the cluster',
  BeginTime: 'its start time has not come',
  Dependency: 'it waits for another job',
  CONFIGURING: 'its nodes are starting',
};

const LIMITS = [
  ['QOS', 'a limit of its quality of service'],
  ['Assoc', 'a limit of the account'],
] as const;
