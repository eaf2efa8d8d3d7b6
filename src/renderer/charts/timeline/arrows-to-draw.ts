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

export function arrowsToDraw(
  { arrows, engines, pathArrows, timeline }: TimelineIndex,
  { from: begin, to: over }: TimeWindow,
  { end, first }: LanesInView,
): ArrowsToDraw {
  const others: number[] = [];
  const onPaths: number[] = [];
  for (const place of arrows.in(begin, over)) {
    const isOnPath = pathArrows.has(place);
    if (!isOnPath && others.length > MOST_ARROWS) continue;
    const { from, to } = timeline.arrows[place]!;
    const [a, b] = [engines.get(from)!, engines.get(to)!];
    if (Math.max(a, b) < first || Math.min(a, b) >= end) continue;
    (isOnPath ? onPaths : others).push(place);
  }
  return { onPaths, others: others.length > MOST_ARROWS ? [] : others };
}
