/** A timeline prepared for drawing, once and not in each frame. */
import { ArrowIndex } from '../../../shared/trace/arrow-index.ts';
import type { CriticalPath } from '../../../shared/trace/critical-path.ts';
import type { Timeline } from '../../../shared/trace/timeline.ts';

export interface TimelineIndex {
  readonly timeline: Timeline;
  readonly paths: readonly CriticalPath[];
  readonly arrows: ArrowIndex;
  /** Places of the messages on the critical paths. */
  readonly pathArrows: ReadonlySet<number>;
  /** The lane of each rank at which messages leave and arrive. */
  readonly engines: ReadonlyMap<number, number>;
}

export const indexOf = (
  timeline: Timeline,
  paths: readonly CriticalPath[],
): TimelineIndex => ({
  timeline,
  paths,
  arrows: new ArrowIndex(timeline.arrows),
  pathArrows: new Set(
    paths.flatMap(({ parts }) => parts.map(({ arrow }) => arrow)).filter((i) => i >= 0),
  ),
  engines: new Map(
    timeline.lanes.flatMap(({ isEngine, rank }, lane) =>
      isEngine ? [[rank, lane] as const] : [],
    ),
  ),
});
