/** Lines along the spans of critical paths: of parts within a pixel, one. */
import type { LanesInView } from './lane-view.ts';
import type { TimeWindow } from './time-window.ts';
import type { TimelineIndex } from './timeline-index.ts';

interface PathLine {
  readonly lane: number;
  /** Pixels. */
  readonly left: number;
  readonly right: number;
  /** Whether a span says what its time was spent on. */
  readonly isTraced: boolean;
}

/** The lines on the lanes in view; messages are arrows. @param x the pixel of a moment */
export function pathLines(
  { engines, paths }: TimelineIndex,
  shown: TimeWindow,
  { end, first }: LanesInView,
  x: (time: number) => number,
): readonly PathLine[] {
  const lines: PathLine[] = [];
  const drawnTo = new Float64Array(end - first).fill(-Infinity);
  for (const path of paths) {
    if (path.to <= shown.from || path.from >= shown.to) continue;
    for (const { arrow, from, lane: own, rank, to } of path.parts) {
      if (arrow >= 0 || to <= shown.from) continue;
      if (from >= shown.to) break;
      const lane = own < 0 ? engines.get(rank)! : own;
      if (lane < first || lane >= end || x(to) <= drawnTo[lane - first]!) continue;
      const left = x(from);
      const right = Math.max(x(to), left + 1);
      drawnTo[lane - first] = right;
      lines.push({ lane, left, right, isTraced: own >= 0 });
    }
  }
  return lines;
}
