/** A timeline prepared for drawing, once and not in each frame. */
import { ArrowIndex } from './arrow-index.ts';
import type { CriticalPath } from './critical-path.ts';
import type { Timeline } from '../../../shared/trace/timeline.ts';

export interface TimelineIndex {
  readonly timeline: Timeline;
  readonly paths: readonly CriticalPath[];
  readonly arrows: ArrowIndex;
  /** Places of the messages on the critical paths, in order. */
  readonly pathArrows: readonly number[];
  /** Messages on the critical paths alone: a frame needs all of them, and of the others only a few. */
  readonly onPaths: ArrowIndex;
  /** The lane of each rank at which messages leave and arrive. */
  readonly engines: ReadonlyMap<number, number>;
}

export function indexOf(
  timeline: Timeline,
  paths: readonly CriticalPath[],
): TimelineIndex {
  const onPaths = new Set(
    paths.flatMap(({ parts }) => parts.map(({ arrow }) => arrow)).filter((i) => i >= 0),
  );
  const pathArrows = [...onPaths].sort((a, b) => a - b);
  return {
    timeline,
    paths,
    arrows: new ArrowIndex(timeline.arrows),
    pathArrows,
    onPaths: new ArrowIndex(pathArrows.map((place) => timeline.arrows[place]!)),
    engines: new Map(
      timeline.lanes.flatMap(({ isEngine, rank }, lane) =>
        isEngine ? [[rank, lane] as const] : [],
      ),
    ),
  };
}
