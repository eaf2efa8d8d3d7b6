/** Spans of a lane that can be seen: of those within a pixel, the first. */
import { firstAfter, type Lane } from '../../../shared/trace/timeline.ts';
import type { TimeWindow } from './time-window.ts';

/**
 * Places of the spans to draw, in order. Those within a pixel that is drawn already are skipped by
 * a search, so that a lane costs no more than its pixels, however many spans are in view.
 * @param width pixels of the window
 */
export function spansToDraw(
  lane: Lane,
  { from, to }: TimeWindow,
  width: number,
): readonly number[] {
  const { ends, starts } = lane;
  const pixel = (to - from) / width;
  const places: number[] = [];
  let i = firstAfter(lane, from);
  while (i < starts.length && starts[i]! < to) {
    places.push(i);
    const isNarrow = ends[i]! - starts[i]! < pixel;
    const nextPixel = from + pixel * (Math.floor((starts[i]! - from) / pixel) + 1);
    i = isNarrow ? firstAfter(lane, nextPixel, i + 1) : i + 1;
  }
  return places;
}
