/** Messages of a timeline as arrows. */
import { arrowsToDraw } from './arrows-to-draw.ts';
import type { Frame } from './draw-timeline.ts';
import { GAP, LANE_HEIGHT } from './lane-view.ts';

/** Draws them, and those of critical paths stronger. */
export function drawArrows(context: CanvasRenderingContext2D, frame: Frame): void {
  const { index, palette, window: shown } = frame.drawing;
  const { onPaths, others } = arrowsToDraw(index, shown, frame);
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  for (const place of others) drawArrow(context, place, frame);
  context.lineWidth = 2;
  context.globalAlpha = 1;
  for (const place of onPaths) drawArrow(context, place, frame);
}

function drawArrow(
  context: CanvasRenderingContext2D,
  place: number,
  { drawing, top, x }: Frame,
): void {
  const { engines, timeline } = drawing.index;
  const { from, received, sent, to } = timeline.arrows[place]!;
  const [a, b] = [engines.get(from)!, engines.get(to)!];
  const isDown = b > a;
  const [x1, x2] = [x(sent), x(received)];
  const y1 = top(a) + (isDown ? LANE_HEIGHT - GAP / 2 : GAP / 2);
  const y2 = top(b) + (isDown ? GAP / 2 : LANE_HEIGHT - GAP / 2);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  const angle = Math.atan2(y2 - y1, x2 - x1);
  context.beginPath();
  context.moveTo(x2, y2);
  for (const side of [-0.4, 0.4]) {
    context.lineTo(x2 - 7 * Math.cos(angle + side), y2 - 7 * Math.sin(angle + side));
  }
  context.fill();
}
