/** The critical path in words. */
import { pathSums, type CriticalPath, type PathSum } from './critical-path.ts';
import type { Timeline } from '../../../shared/trace/timeline.ts';
import { formatWholePercent } from '../../../shared/words/units.ts';
import type { TimeWindow } from './time-window.ts';

/** Parts of the critical path that a sentence names. */
const NAMED_PARTS = 4;

/**
 * The parts of critical paths in a stretch in a sentence, the largest first. Empty if no path lies
 * in it.
 */
export function describePath(
  timeline: Timeline,
  paths: readonly CriticalPath[],
  stretch: TimeWindow,
): string {
  const sums = pathSums(timeline, paths, stretch);
  const whole = sums.reduce((total, { time }) => total + time, 0);
  if (whole === 0) return '';
  const isObserved = timeline.lanes.some(({ isNetwork }) => isNetwork);
  const awaited = isObserved ? 'averages' : 'messages';
  const parts = sums
    .slice(0, NAMED_PARTS)
    .map(
      (sum) => `${formatWholePercent(sum.time / whole)} ${pathSumName(sum, awaited)}`,
    );
  const rest = sums.slice(NAMED_PARTS).reduce((total, { time }) => total + time, 0);
  if (rest > 0) parts.push(`${formatWholePercent(rest / whole)} in smaller parts`);
  const crossed = paths.filter(
    ({ from, to }) => to > stretch.from && from < stretch.to,
  );
  const [first, last] = [crossed[0]!.iteration, crossed.at(-1)!.iteration];
  const of = first === last ? `iteration ${first}` : `iterations ${first} to ${last}`;
  return `Critical path of ${of}: ${parts.join(', ')}.`;
}

const pathSumName = ({ phase, rank }: PathSum, awaited: string): string =>
  rank === undefined ? `waiting for ${awaited}` : `${phase} on rank ${rank}`;
