/** The longest time that a rank waited for another in one iteration. */
import type { IterationRecord } from '../../../shared/records/iteration.ts';

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
