/**
 * When a run ended, by this computer's clock, which says when it was created as well. Records
 * have the clock of their machine, which may be hours off: a duration from both would be, too.
 */
export interface RunTimes {
  /** Time of the launch by this computer's clock. */
  readonly createdAt: number;
  readonly now: number;
  /** Time of the first record by the clock of the run's machines; `lastAt`: of the last one. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Whether all ranks are on this computer, so that there is one clock. */
  readonly isHere: boolean;
  /**
   * Milliseconds by which this computer's clock is ahead of the one of the last record: the least
   * time that records took to arrive. Undefined: unknown, as for runs stored by earlier versions.
   */
  readonly ahead?: number | undefined;
}

/**
 * Records arrive soon while somebody follows the run, so the least of their delays is that of the
 * clocks. Without one, the time before the first record is not in the duration.
 */
export function endedAt(times: RunTimes): number {
  const { ahead, createdAt, firstAt, isHere, lastAt, now } = times;
  if (isHere) return lastAt;
  const end =
    ahead === undefined ? createdAt + Math.max(0, lastAt - firstAt) : lastAt + ahead;
  return Math.max(createdAt, Math.min(now, end));
}
