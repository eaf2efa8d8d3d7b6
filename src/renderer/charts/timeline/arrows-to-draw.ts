/** Messages in view that are drawn: all that can be told apart, and those of critical paths. */
import type { LanesInView } from './lane-view.ts';
import type { TimeWindow } from './time-window.ts';
import type { TimelineIndex } from './timeline-index.ts';

/** More arrows than these would hide the spans. */
const MOST_ARROWS = 300;

/** Places of arrows. */
interface ArrowsToDraw {
  readonly onPaths: readonly number[];
  /** Empty if they are too many. */
  readonly others: readonly number[];
}

/** Looks no further than needed: of a large trace, a view has hundreds of thousands of messages. */
export function arrowsToDraw(
  { arrows, engines, onPaths, pathArrows, timeline }: TimelineIndex,
  { from: begin, to: over }: TimeWindow,
  { end, first }: LanesInView,
): ArrowsToDraw {
  const isInView = (place: number): boolean => {
    const { from, to } = timeline.arrows[place]!;
    const [a, b] = [engines.get(from)!, engines.get(to)!];
    return Math.max(a, b) >= first && Math.min(a, b) < end;
  };
  const drawnOnPaths: number[] = [];
  for (const i of onPaths.in(begin, over)) {
    const place = pathArrows[i]!;
    if (isInView(place)) drawnOnPaths.push(place);
  }
  const stronger = new Set(drawnOnPaths);
  const others: number[] = [];
  for (const place of arrows.in(begin, over)) {
    if (stronger.has(place) || !isInView(place)) continue;
    others.push(place);
    if (others.length > MOST_ARROWS) return { onPaths: drawnOnPaths, others: [] };
  }
  return { onPaths: drawnOnPaths, others };
}
