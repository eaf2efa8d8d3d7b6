/**
 * Draws the lanes of a timeline that are in view on a canvas. Spans narrower than a pixel are drawn
 * one per pixel, so spans cost a frame at most the pixels of these lanes; messages in view are gone through.
 */
import { PHASES } from '../../../shared/records/phases.ts';
import { translucent, type Palette } from '../palette.ts';
import { drawArrows } from './draw-arrows.ts';
import { drawPath } from './draw-path.ts';
import {
  AXIS_HEIGHT,
  GAP,
  LANE_HEIGHT,
  lanesInView,
  topOf,
  type LanesInView,
} from './lane-view.ts';
import { spansToDraw } from './spans-to-draw.ts';
import { tickText, type TimeWindow } from './time-window.ts';
import type { TimelineIndex } from './timeline-index.ts';

/** Room for the names of lanes, px, on a canvas of this width. */
export const labelWidth = (width: number): number => (width < NARROW ? 80 : 104);
const NARROW = 480;
const NAMED_FROM = 44;
/** Pixels from which a span has an edge to the one before it. */
const EDGED_FROM = 10;

export interface TimelineDrawing {
  readonly index: TimelineIndex;
  readonly window: TimeWindow;
  /** Pixels of lanes that are scrolled away. */
  readonly scrolled: number;
  readonly selection: TimeWindow | undefined;
  /** The span that is pointed at or walked to. */
  readonly marked: { readonly lane: number; readonly span: number } | undefined;
  readonly palette: Palette;
}

/** A frame: what is drawn, and where. */
export interface Frame extends LanesInView {
  readonly drawing: TimelineDrawing;
  readonly width: number;
  readonly height: number;
  readonly labels: number;
  readonly x: (time: number) => number;
  readonly top: (lane: number) => number;
}

export function drawTimeline(
  canvas: HTMLCanvasElement,
  drawing: TimelineDrawing,
): void {
  const { index, palette, scrolled, selection, window: shown } = drawing;
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('internal: no 2D canvas');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = `11px ${palette.font}`;
  context.textBaseline = 'middle';
  const labels = labelWidth(width);
  const perNanosecond = (width - labels) / (shown.to - shown.from);
  const { end, first } = lanesInView(index.timeline.lanes.length, { scrolled, height });
  const frame: Frame = {
    drawing,
    first,
    end,
    width,
    height,
    labels,
    x: (time) => labels + (time - shown.from) * perNanosecond,
    top: (lane) => topOf(lane, { scrolled }),
  };

  within(context, [0, AXIS_HEIGHT, width, height - AXIS_HEIGHT], () => {
    drawLabels(context, frame);
  });
  within(context, [labels, 0, width - labels, height], () => {
    drawAxis(context, frame);
  });
  within(context, [labels, AXIS_HEIGHT, width - labels, height - AXIS_HEIGHT], () => {
    for (let lane = first; lane < end; lane++) drawLane(context, lane, frame);
    drawPath(context, frame);
    drawArrows(context, frame);
    drawClocks(context, frame, perNanosecond);
  });
  if (selection === undefined) return;
  within(context, [labels, 0, width - labels, height], () => {
    const [left, right] = [frame.x(selection.from), frame.x(selection.to)];
    context.fillStyle = translucent(palette.accent, 0.16);
    context.fillRect(left, 0, right - left, height);
    context.strokeStyle = palette.accent;
    context.lineWidth = 1;
    context.strokeRect(left, 0.5, Math.max(1, right - left), height - 1);
  });
}

/** Draws within a rectangle only. */
function within(
  context: CanvasRenderingContext2D,
  [left, top, width, height]: readonly [number, number, number, number],
  draw: () => void,
): void {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  draw();
  context.restore();
}

function drawLabels(
  context: CanvasRenderingContext2D,
  { drawing, end, first, top, width }: Frame,
): void {
  const { index, palette } = drawing;
  const { lanes } = index.timeline;
  for (let lane = first; lane < end; lane++) {
    const { rank, thread } = lanes[lane]!;
    const middle = top(lane) + LANE_HEIGHT / 2;
    const isFirst = lanes[lane - 1]?.rank !== rank;
    if (isFirst && lane > 0) {
      context.fillStyle = palette.grid;
      context.fillRect(0, top(lane) - 1, width, 1);
    }
    const isNarrow = width < NARROW;
    context.fillStyle = palette.ink;
    // The first lane in view may be another one of its rank.
    if (isFirst || isNarrow || lane === first) {
      context.fillText(isNarrow ? `r${rank}` : `rank ${rank}`, 4, middle);
    }
    context.fillStyle = palette.soft;
    if (thread !== 'rank') context.fillText(thread, isNarrow ? 34 : 58, middle);
  }
}

/** Ticks at a round distance, some eighty pixels apart at least. */
function drawAxis(
  context: CanvasRenderingContext2D,
  { drawing, height, labels, width, x }: Frame,
): void {
  const { palette, window: shown } = drawing;
  const rough = ((shown.to - shown.from) / (width - labels)) * 80;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= rough)!;
  for (let at = Math.ceil(shown.from / step) * step; at < shown.to; at += step) {
    const left = Math.round(x(at)) + 0.5;
    context.fillStyle = palette.grid;
    context.fillRect(left, 0, 1, height);
    context.fillStyle = palette.soft;
    const text = tickText(at, step, shown.to);
    if (left + 3 + context.measureText(text).width <= width) {
      context.fillText(text, left + 3, AXIS_HEIGHT / 2);
    }
  }
}

function drawLane(
  context: CanvasRenderingContext2D,
  place: number,
  { drawing, labels, top: topOfLane, width, x }: Frame,
): void {
  const { index, marked, palette, window: shown } = drawing;
  const lane = index.timeline.lanes[place]!;
  const top = topOfLane(place);
  const height = LANE_HEIGHT - GAP;
  for (const i of spansToDraw(lane, shown, width - labels)) {
    const left = x(lane.starts[i]!);
    const right = Math.max(x(lane.ends[i]!), left + 0.75);
    const phase = PHASES[lane.phases[i]!]!;
    context.fillStyle = right - left < 6 ? palette.phases[phase] : palette.fills[phase];
    context.fillRect(left, top + GAP / 2, right - left, height);
    if (right - left >= EDGED_FROM) {
      context.fillStyle = palette.edge;
      context.fillRect(left, top + GAP / 2, 1, height);
    }
    if (lane.hidden[i] === 1) {
      context.fillStyle = palette.hatch;
      context.globalAlpha = 0.5;
      context.fillRect(left, top + GAP / 2, right - left, height);
      context.globalAlpha = 1;
    }
    const seen = Math.min(right, x(shown.to)) - Math.max(left, x(shown.from));
    if (seen >= NAMED_FROM) {
      const bucket = lane.buckets[i]!;
      const text = bucket < 0 ? phase : `${phase} ${bucket}`;
      drawName(context, text, {
        left: Math.max(left, x(shown.from)),
        seen,
        top,
        palette,
      });
    }
  }
  if (marked?.lane !== place) return;
  const left = x(lane.starts[marked.span]!);
  const right = x(lane.ends[marked.span]!);
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  context.strokeRect(left, top + GAP / 2, Math.max(2, right - left), height);
}

/** A span's name on a plate, since patterns would make it illegible. */
function drawName(
  context: CanvasRenderingContext2D,
  text: string,
  {
    left,
    palette,
    seen,
    top,
  }: {
    readonly left: number;
    readonly seen: number;
    readonly top: number;
    readonly palette: Palette;
  },
): void {
  const { width } = context.measureText(text);
  // Its colour must be seen beside the plate.
  if (1.4 * (width + 10) > seen) return;
  const middle = top + LANE_HEIGHT / 2;
  context.fillStyle = palette.surface;
  context.fillRect(left + 3, middle - 7, width + 6, 14);
  context.fillStyle = palette.ink;
  context.fillText(text, left + 6, middle + 0.5);
}

/** The uncertainty of each rank's clock as a bar of its length, at the right. */
function drawClocks(
  context: CanvasRenderingContext2D,
  { drawing, end, first, labels, top, width }: Frame,
  perNanosecond: number,
): void {
  const { index, palette } = drawing;
  const { clocks, lanes } = index.timeline;
  for (let lane = first; lane < end; lane++) {
    const { rank } = lanes[lane]!;
    if (lanes[lane - 1]?.rank === rank) continue;
    const { uncertainty } = clocks.get(rank)!;
    const length = Math.min(2 * uncertainty * perNanosecond, width - labels);
    if (length < 2) continue;
    const middle = top(lane) + 1.5;
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(width - length - 2, middle);
    context.lineTo(width - 2, middle);
    for (const end of [width - length - 2, width - 2]) {
      context.moveTo(end, middle - 2);
      context.lineTo(end, middle + 3);
    }
    context.stroke();
  }
}
