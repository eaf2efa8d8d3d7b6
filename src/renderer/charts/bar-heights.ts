/**
 * Heights of bars of merged iterations. A bar is the mean of its iterations, and a line shows
 * their shortest and longest, so that a single slow step stays visible. A bar that is taller
 * than the axis is drawn as high as the axis, its phases in proportion: cut off at the axis,
 * it would show its lowest phases alone.
 */
import { quantile } from '../../shared/numbers/quantile.ts';
import { robustRange, rangeFromZero, type AxisRange } from './axis-range.ts';

/** Spreads that need no more than this much of the bars' own axis stay on it. */
const ROOM_FOR_SPREAD = 1.5;
/** The axis is made this much longer if most spreads then stay on it, not only the longest ones. */
const MOST_ROOM = 2;
/** The share of spreads that count as most. */
const MOST = 0.9;

/**
 * The axis of these bars.
 * @param longest the longest iteration of each bar
 */
export function barRange(
  heights: readonly number[],
  longest: readonly number[],
): AxisRange {
  const own = robustRange(heights);
  const fits = (value: number, room: number): AxisRange | undefined =>
    value <= room * own.max ? rangeFromZero([own.max / 1.04, value]) : undefined;
  const highest = longest.reduce((most, value) => Math.max(most, value), 0);
  const most = quantile(longest, MOST) ?? 0;
  return fits(highest, ROOM_FOR_SPREAD) ?? fits(most, MOST_ROOM) ?? own;
}

/** The factor for the phases of a bar, so that it ends within the axis. */
export const fitted = (height: number, top: number): number =>
  height > top ? top / height : 1;
