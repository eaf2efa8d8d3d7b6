/** What is said of a run that waits for its cluster, and of what it is given there. */
import type { AllocatedRecord, QueuedRecord } from '../../shared/records.ts';
import { date } from './quantities.ts';

/** `queued (job 17, Priority, expected to start 2026-03-01 12:00)` */
export function describeQueued({
  job,
  reason,
  expected,
}: Pick<QueuedRecord, 'job' | 'reason' | 'expected'>): string {
  const parts = [`job ${job}`];
  if (reason !== undefined) parts.push(reason);
  if (expected !== undefined) parts.push(`expected to start ${date(expected)}`);
  return `queued (${parts.join(', ')})`;
}

/** `job 17 has n[0-1] until 2026-03-01 14:00` */
export function describeAllocated({
  job,
  computeNodes,
  until,
}: AllocatedRecord): string {
  const names = computeNodes.slice(0, SHOWN).join(', ');
  const more = computeNodes.length - SHOWN;
  return (
    `job ${job} has ${names}${more > 0 ? ` and ${more} more` : ''}` +
    (until === undefined ? '' : ` until ${date(until)}`)
  );
}

const SHOWN = 8;
