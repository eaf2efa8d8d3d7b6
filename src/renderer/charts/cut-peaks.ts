/** Peaks that a vertical axis cuts, which a chart marks with an arrow and their value. */
import type { CutValue } from '../../export/picture/picture.ts';
import type { Point } from './curves.ts';

/** The highest point of each stretch of points above the axis. */
export function cutPeaks(
  points: readonly Point[],
  max: number,
  format: (value: number) => string,
): readonly CutValue[] {
  const peaks: Point[] = [];
  let wasAbove = false;
  for (const point of points) {
    const isAbove = point.y > max;
    if (isAbove && !wasAbove) peaks.push(point);
    else if (isAbove && point.y > peaks.at(-1)!.y) peaks[peaks.length - 1] = point;
    wasAbove = isAbove;
  }
  return peaks.map(({ x, y }) => ({ x, y, label: format(y) }));
}
