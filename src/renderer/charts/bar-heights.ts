/**
 * Heights of bars of merged iterations. A bar is the mean of its iterations, and a line shows
 * their shortest and longest, so that a single slow step stays visible. A bar that is taller
 * than the axis is drawn as high as the axis, its phases in proportion: cut off at the axis,
 * it would show its lowest phases alone.
 */
import { robustRange, rangeFromZero, type AxisRange } from './axis-range.ts';

/** A spread that needs no more than this much of the bars' own axis stays on it. */
const ROOM_FOR_SPREAD = 1.5;

/**
 * The axis of these bars.
 * @param longest the longest iteration of each bar
 */
export function barRange(
  heights: readonly number[],
  longest: readonly number[],
): AxisRange {
  const own = robustRange(heights);
  const highest = longest.reduce((most, value) => Math.max(most, value), 0);
  const fits = highest <= ROOM_FOR_SPREAD * own.max;
  return fits ? rangeFromZero([own.max / 1.04, highest]) : own;
}

/** The factor for the phases of a bar, so that it ends within the axis. */
export const fitted = (height: number, top: number): number =>
  height > top ? top / height : 1;
