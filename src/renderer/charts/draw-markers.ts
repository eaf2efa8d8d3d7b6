/** Draws markers into a chart: fences as lines with labels, others as signs at the axis. */
import type { ChartArea } from 'chart.js';
import { signsApart } from '../../export/picture/apart.ts';
import { MARKER_STYLES, type MarkerKind } from './markers.ts';
import type { Palette } from './palette.ts';
import type { PlacedMarker } from './placed-run.ts';

interface Markers {
  readonly markers: readonly PlacedMarker[];
  readonly palette: Palette;
  /** Whether fences have labels, above the plot. */
  readonly labels: boolean;
}

/** Half the size of a sign, in pixels. */
const SIGN = 3;
/** Pixels of the narrowest label: some letters. */
const LEAST_LABEL = 30;

/** @param pixel the pixel of a place on the axis */
export function drawMarkers(
  context: CanvasRenderingContext2D,
  area: ChartArea,
  pixel: (x: number) => number,
  { markers, palette, labels }: Markers,
): void {
  context.font = `600 11px ${palette.font}`;
  context.textBaseline = 'middle';
  const placed = markers.flatMap(({ kind, label, x }) => {
    const at = Math.round(pixel(x)) + 0.5;
    const isSeen = at >= area.left - 0.5 && at <= area.right + 0.5;
    return isSeen ? [{ at, kind, label, sign: MARKER_STYLES[kind].sign }] : [];
  });
  const fences = placed.filter(({ sign }) => sign === 'fence');
  let free = -Infinity;
  for (const [index, { at, label }] of fences.entries()) {
    context.strokeStyle = palette.ink;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.beginPath();
    context.moveTo(at, labels ? area.top - 12 : area.top);
    context.lineTo(at, area.bottom);
    context.stroke();
    if (!labels) continue;
    const next = fences[index + 1]?.at;
    const end = next === undefined ? area.right : next - 2;
    const wanted = context.measureText(label).width + 10;
    // The last one may stand before its line.
    const left = next === undefined ? Math.max(free, Math.min(at, end - wanted)) : at;
    const width = Math.min(wanted, end - left);
    if (width < LEAST_LABEL) continue;
    free = left + width + 2;
    context.setLineDash([]);
    context.fillStyle = palette.ink;
    context.fillRect(left, area.top - 26, width, 16);
    context.fillStyle = palette.surface;
    // About as many of its letters as fit.
    const letters = Math.floor((label.length * (width - 10)) / (wanted - 10)) - 1;
    const text = width < wanted - 4 ? `${label.slice(0, letters)}…` : label;
    context.fillText(text, left + 5, area.top - 17.5);
  }
  context.setLineDash([]);
  const signs = placed.filter(({ sign }) => sign !== 'fence');
  for (const { at, kind } of signsApart(signs, 2 * SIGN)) {
    drawSign(context, kind, at, area, palette);
  }
}

/** A sign on the axis, where no value is drawn, with a rim that sets it off from bars. */
function drawSign(
  context: CanvasRenderingContext2D,
  kind: MarkerKind,
  x: number,
  { bottom, top }: ChartArea,
  palette: Palette,
): void {
  const y = bottom;
  const colour = palette.markers[kind];
  context.setLineDash([]);
  context.fillStyle = colour;
  context.strokeStyle = palette.surface;
  context.lineWidth = 1.5;
  context.beginPath();
  switch (MARKER_STYLES[kind].sign) {
    case 'disc':
      context.arc(x, y, SIGN, 0, 2 * Math.PI);
      break;
    case 'square':
      context.rect(x - SIGN, y - SIGN, 2 * SIGN, 2 * SIGN);
      break;
    case 'triangle':
      context.moveTo(x, y - SIGN - 1);
      context.lineTo(x + SIGN + 1, y + SIGN);
      context.lineTo(x - SIGN - 1, y + SIGN);
      context.closePath();
      break;
    case 'diamond': {
      const half = SIGN + 1.5;
      // As with a fault, what the curves do here is explained by it; but nothing is lost.
      context.strokeStyle = colour;
      context.lineWidth = 1;
      context.setLineDash([2, 3]);
      context.moveTo(x, top);
      context.lineTo(x, y - half);
      context.stroke();
      context.setLineDash([]);
      context.strokeStyle = palette.surface;
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, y - half);
      context.lineTo(x + half, y);
      context.lineTo(x, y + half);
      context.lineTo(x - half, y);
      context.closePath();
      break;
    }
    case 'fence':
      break;
    case 'cross': {
      // A fault is worth a line: it explains what the curves do there.
      context.strokeStyle = colour;
      context.moveTo(x, top);
      context.lineTo(x, bottom);
      context.moveTo(x - SIGN, y - SIGN);
      context.lineTo(x + SIGN, y + SIGN);
      context.moveTo(x + SIGN, y - SIGN);
      context.lineTo(x - SIGN, y + SIGN);
      context.stroke();
      return;
    }
  }
  context.stroke();
  context.fill();
}
