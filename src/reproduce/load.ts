/**
 * Whether times measured on a computer say anything: each rank has a processor, and nothing
 * else was running, neither before nor during any of the runs.
 */
import { formatPercent } from '../shared/words/units.ts';

/** The share of the computer that other work may take. */
const IDLE = 0.1;

/**
 * The reason why times decide nothing, in words; undefined if they do.
 * @param others the share of the processors' time that other work took in each run;
 * undefined if it is unknown
 */
export function obstacleToTimes(
  ranks: number,
  processors: number,
  others: readonly (number | undefined)[],
): string | undefined {
  if (ranks > processors) {
    return `busy: ${ranks} ranks on ${processors} ${processors === 1 ? 'processor' : 'processors'}`;
  }
  if (others.includes(undefined)) {
    return 'busy or not: what else ran on this computer is unknown';
  }
  const most = Math.max(0, ...(others as readonly number[]));
  return isBusy(most)
    ? `busy: other work took ${formatPercent(most)} of the processors`
    : undefined;
}

/** Whether so large a share of the processors went to other work that times say nothing. */
export const isBusy = (others: number): boolean => others > IDLE;
