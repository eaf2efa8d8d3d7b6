/** The longest time that a rank waited for another in one iteration, and what it is next to. */
import { formatDuration } from '../../../shared/words/units.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';

/** A receive this many times the longest wait is told before it. */
const MUCH = 2;

interface LongestWait {
  readonly rank: number;
  /** The rank that it waited for. */
  readonly awaited: number;
  /** Milliseconds. */
  readonly time: number;
}

/** @returns undefined if no record tells of a wait */
export function longestWait(
  records: readonly Pick<IterationRecord, 'rank' | 'waitedFor'>[],
): LongestWait | undefined {
  return records
    .flatMap(({ rank, waitedFor = {} }) =>
      Object.entries(waitedFor).map(([awaited, time]) => ({
        rank,
        awaited: Number(awaited),
        time,
      })),
    )
    .filter(({ time }) => time > 0)
    .reduce<LongestWait | undefined>(
      (longest, each) => (each.time > (longest?.time ?? 0) ? each : longest),
      undefined,
    );
}

/**
 * The longest wait in a sentence. Bytes that trickle in are `receive`, not `wait`: a receive that is
 * much longer comes first, so that the wait is not taken for the explanation.
 * @returns undefined if no record tells of a wait
 */
export function waitText(
  records: readonly Pick<IterationRecord, 'rank' | 'waitedFor' | 'phases'>[],
): string | undefined {
  const wait = longestWait(records);
  if (wait === undefined) return undefined;
  const waited =
    `rank ${wait.rank} waited ${formatDuration(wait.time)} ` +
    `for rank ${wait.awaited}.`;
  const { phases, rank } = records.reduce((a, b) =>
    b.phases.receive > a.phases.receive ? b : a,
  );
  return phases.receive > MUCH * wait.time
    ? `Rank ${rank} spent ${formatDuration(phases.receive)} in receive, reading bytes from ` +
        `the sockets; the longest wait was shorter: ${waited}`
    : `The longest wait: ${waited}`;
}
