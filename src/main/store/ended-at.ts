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
}

/**
 * The first record comes once the ranks are up, or queued. What came before it is not in the
 * duration of a run on other machines: nothing but their clock tells when it ended.
 */
export function endedAt({ createdAt, now, firstAt, lastAt, isHere }: RunTimes): number {
  if (isHere) return lastAt;
  const lasted = Math.max(0, lastAt - firstAt);
  return Math.max(createdAt, Math.min(now, createdAt + lasted));
}
