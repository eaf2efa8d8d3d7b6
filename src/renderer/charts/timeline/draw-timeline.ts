/**
 * Draws a timeline on a canvas. Spans narrower than a pixel are drawn one per pixel, so a frame
 * costs at most the lanes' pixels, whatever is in them.
 */
import { PHASES } from '../../../shared/records/phases.ts';
import {
  firstAfter,
  type Lane,
  type Timeline,
} from '../../../shared/trace/timeline.ts';
import { formatDuration } from '../../../shared/words/units.ts';
import { translucent, type Palette } from '../palette.ts';
import type { TimeWindow } from './time-window.ts';

export const LANE_HEIGHT = 26;
export const AXIS_HEIGHT = 20;
/** Room for the names of lanes, px, on a canvas of this width. */
export const labelWidth = (width: number): number => (width < NARROW ? 72 : 104);
const NARROW = 480;
const GAP = 4;
/** More arrows than these would hide the spans. */
const MOST_ARROWS = 300;
const NAMED_FROM = 44;
/** Pixels from which a span has an edge to the one before it. */
const EDGED_FROM = 10;

export interface TimelineDrawing {
  readonly timeline: Timeline;
  readonly window: TimeWindow;
  readonly selection: TimeWindow | undefined;
  /** The span that is pointed at or walked to. */
  readonly marked: { readonly lane: number; readonly span: number } | undefined;
  readonly palette: Palette;
}

export const heightOf = ({ lanes }: Timeline): number =>
  AXIS_HEIGHT + lanes.length * LANE_HEIGHT + GAP;

const topOf = (lane: number): number => AXIS_HEIGHT + lane * LANE_HEIGHT;

export function drawTimeline(
  canvas: HTMLCanvasElement,
  drawing: TimelineDrawing,
): void {
  const { palette, selection, timeline, window: shown } = drawing;
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
  const x = (time: number): number => labels + (time - shown.from) * perNanosecond;

  drawLabels(context, timeline, { palette, width });
  context.save();
  context.beginPath();
  context.rect(labels, 0, width - labels, height);
  context.clip();
  drawAxis(context, { shown, width, height, x, palette });
  for (const [index, lane] of timeline.lanes.entries()) {
    drawLane(context, { lane, top: topOf(index), shown, x, drawing });
  }
  drawArrows(context, { drawing, x });
  drawClocks(context, { drawing, width, perNanosecond });
  if (selection !== undefined) {
    const [left, right] = [x(selection.from), x(selection.to)];
    context.fillStyle = translucent(palette.accent, 0.16);
    context.fillRect(left, 0, right - left, height);
    context.strokeStyle = palette.accent;
    context.lineWidth = 1;
    context.strokeRect(left, 0.5, Math.max(1, right - left), height - 1);
  }
  context.restore();
}

function drawLabels(
  context: CanvasRenderingContext2D,
  { lanes }: Timeline,
  { palette, width }: { readonly palette: Palette; readonly width: number },
): void {
  for (const [index, { rank, thread }] of lanes.entries()) {
    const middle = topOf(index) + LANE_HEIGHT / 2;
    const isFirst = lanes[index - 1]?.rank !== rank;
    if (isFirst && index > 0) {
      context.fillStyle = palette.grid;
      context.fillRect(0, topOf(index) - 1, width, 1);
    }
    const isNarrow = width < NARROW;
    context.fillStyle = palette.ink;
    if (isFirst || isNarrow) {
      context.fillText(isNarrow ? `r${rank}` : `rank ${rank}`, 4, middle);
    }
    context.fillStyle = palette.soft;
    if (thread !== 'rank') context.fillText(thread, isNarrow ? 26 : 58, middle);
  }
}

interface Axis {
  readonly shown: TimeWindow;
  readonly width: number;
  readonly height: number;
  readonly x: (time: number) => number;
  readonly palette: Palette;
}

/** Ticks at a round distance, some hundred pixels apart. */
function drawAxis(
  context: CanvasRenderingContext2D,
  { height, palette, shown, width, x }: Axis,
): void {
  const rough = ((shown.to - shown.from) / (width - labelWidth(width))) * 110;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((one) => one >= rough)!;
  for (let at = Math.ceil(shown.from / step) * step; at < shown.to; at += step) {
    const left = Math.round(x(at)) + 0.5;
    context.fillStyle = palette.grid;
    context.fillRect(left, 0, 1, height);
    context.fillStyle = palette.soft;
    context.fillText(formatDuration(at / 1e6), left + 3, AXIS_HEIGHT / 2);
  }
}

interface DrawnLane {
  readonly lane: Lane;
  readonly top: number;
  readonly shown: TimeWindow;
  readonly x: (time: number) => number;
  readonly drawing: TimelineDrawing;
}

function drawLane(
  context: CanvasRenderingContext2D,
  { drawing, lane, shown, top, x }: DrawnLane,
): void {
  const { marked, palette, timeline } = drawing;
  const height = LANE_HEIGHT - GAP;
  let drawnTo = -Infinity;
  for (let i = firstAfter(lane, shown.from); i < lane.starts.length; i++) {
    const start = lane.starts[i]!;
    if (start >= shown.to) break;
    const left = x(start);
    const right = Math.max(x(lane.ends[i]!), left + 0.75);
    // Drawn over already, by a span in the same pixel.
    if (right <= drawnTo) continue;
    drawnTo = right - left < 1 ? Math.floor(left) + 1 : right;
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
  const { lanes } = timeline;
  if (marked === undefined || lanes[marked.lane] !== lane) return;
  const left = x(lane.starts[marked.span]!);
  const width = Math.max(2, x(lane.ends[marked.span]!) - left);
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  context.strokeRect(left, top + GAP / 2, width, height);
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
  if (width + 10 > seen) return;
  const middle = top + LANE_HEIGHT / 2;
  context.fillStyle = palette.surface;
  context.fillRect(left + 3, middle - 7, width + 6, 14);
  context.fillStyle = palette.ink;
  context.fillText(text, left + 6, middle + 0.5);
}

function drawArrows(
  context: CanvasRenderingContext2D,
  {
    drawing,
    x,
  }: { readonly drawing: TimelineDrawing; readonly x: (time: number) => number },
): void {
  const { palette, timeline, window: shown } = drawing;
  const { arrows, lanes } = timeline;
  const seen = arrows.filter(
    ({ received, sent }) => received > shown.from && sent < shown.to,
  );
  if (seen.length > MOST_ARROWS) return;
  const laneOf = new Map(
    lanes.flatMap(({ isEngine, rank }, index) => (isEngine ? [[rank, index]] : [])),
  );
  context.strokeStyle = palette.ink;
  context.fillStyle = palette.ink;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  for (const { from, received, sent, to } of seen) {
    const [a, b] = [laneOf.get(from)!, laneOf.get(to)!];
    const isDown = b > a;
    const [x1, x2] = [x(sent), x(received)];
    const y1 = topOf(a) + (isDown ? LANE_HEIGHT - GAP / 2 : GAP / 2);
    const y2 = topOf(b) + (isDown ? GAP / 2 : LANE_HEIGHT - GAP / 2);
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
  context.globalAlpha = 1;
}

/** The uncertainty of each rank's clock as a bar of its length, at the right. */
function drawClocks(
  context: CanvasRenderingContext2D,
  {
    drawing,
    perNanosecond,
    width,
  }: {
    readonly drawing: TimelineDrawing;
    readonly perNanosecond: number;
    readonly width: number;
  },
): void {
  const { palette, timeline } = drawing;
  for (const [index, { rank }] of timeline.lanes.entries()) {
    if (timeline.lanes[index - 1]?.rank === rank) continue;
    const { uncertainty } = timeline.clocks.get(rank)!;
    const length = Math.min(2 * uncertainty * perNanosecond, width - labelWidth(width));
    if (length < 2) continue;
    const middle = topOf(index) + 1.5;
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
