/** The critical path of each iteration as a line along the foot of its spans. */
import type { Frame } from './draw-timeline.ts';
import { GAP, LANE_HEIGHT } from './lane-view.ts';
import { pathLines } from './path-lines.ts';

const THICKNESS = 3;

export function drawPath(context: CanvasRenderingContext2D, frame: Frame): void {
  const { drawing, top, x } = frame;
  const { index, palette, window: shown } = drawing;
  for (const { isTraced, lane, left, right } of pathLines(index, shown, frame, x)) {
    const foot = top(lane) + LANE_HEIGHT - GAP / 2;
    context.fillStyle = palette.surface;
    context.fillRect(left, foot - THICKNESS - 1, right - left, 1);
    context.fillStyle = isTraced ? palette.ink : palette.soft;
    context.fillRect(left, foot - THICKNESS, right - left, THICKNESS);
  }
}
