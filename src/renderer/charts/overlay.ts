/**
 * The overlay of a chart: a line with a label at each fence, signs of other markers at the
 * axis, and what moves over the data: the cursor and the part that is being selected. One
 * Chart.js plugin per chart, configured before each update. Places are those of the axis.
 */
import type { Chart, Plugin } from 'chart.js';
import { highestApart } from '../../export/picture/apart.ts';
import type { CutValue } from '../../export/picture/picture.ts';
import { drawMarkers } from './draw-markers.ts';
import type { Palette } from './palette.ts';
import type { PlacedMarker } from './placed-run.ts';

/** The spread of a bar's iterations. */
interface Spread {
  /** The bar's position. */
  readonly x: number;
  readonly least: number;
  readonly most: number;
  /** The bar's top. */
  readonly bar: number;
}

/** Room for the text of a cut value, in pixels. */
const CUT_ROOM = 60;
/** Pixels between bars at which the lines of their spreads would be in full ink. */
const SPARSE = 20;

interface OverlayContent {
  /** Bars or bands that reach beyond the axis. */
  readonly cut?: readonly CutValue[];
  readonly spreads?: readonly Spread[];
  readonly markers: readonly PlacedMarker[];
  readonly palette: Palette;
  readonly labels: boolean;
}

/** The part of an overlay that moves over the data. */
export interface Moving {
  readonly cursor?: number | undefined;
  readonly pinned?: number | undefined;
  readonly selection?: { readonly from: number; readonly to: number } | undefined;
}

export class Overlay {
  content: OverlayContent | undefined;
  moving: Moving = {};

  readonly plugin: Plugin = {
    id: 'overlay',
    afterDatasetsDraw: (chart) => this.#draw(chart),
  };

  #draw(chart: Chart): void {
    const scale = chart.scales['x'];
    if (this.content === undefined || scale === undefined) return;
    const { markers, palette, labels } = this.content;
    const { ctx, chartArea } = chart;
    ctx.save();
    const pixel = (x: number): number => scale.getPixelForValue(x);
    drawMarkers(ctx, chartArea, pixel, { markers, palette, labels });
    this.#drawSpreads(chart);
    this.#drawCuts(chart);
    this.#drawMoving(chart, palette);
    ctx.restore();
  }

  #drawMoving({ chartArea, ctx, scales }: Chart, palette: Palette): void {
    const scale = scales['x']!;
    const { cursor, pinned, selection } = this.moving;
    const { bottom, left, right, top } = chartArea;
    ctx.setLineDash([]);
    if (selection !== undefined) {
      const from = Math.max(left, scale.getPixelForValue(selection.from));
      const to = Math.min(right, scale.getPixelForValue(selection.to));
      ctx.fillStyle = palette.accent;
      ctx.globalAlpha = 0.18;
      ctx.fillRect(from, top, to - from, bottom - top);
      ctx.globalAlpha = 1;
    }
    ctx.strokeStyle = palette.accent;
    ctx.fillStyle = palette.accent;
    for (const place of [cursor, pinned]) {
      if (place === undefined) continue;
      const x = Math.round(scale.getPixelForValue(place)) + 0.5;
      if (x < left || x > right) continue;
      ctx.lineWidth = place === pinned ? 2 : 1;
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, bottom);
      ctx.stroke();
      if (place !== pinned) continue;
      // The head of a pin, at the axis, where no bar or label is.
      ctx.beginPath();
      ctx.arc(x, bottom, 4, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  /** A thin line in each bar from its shortest to its longest iteration. */
  #drawSpreads(chart: Chart): void {
    const [x, y] = [chart.scales['x'], chart.scales['y']];
    if (this.content?.spreads === undefined || x === undefined || y === undefined)
      return;
    const { ctx, chartArea } = chart;
    ctx.setLineDash([]);
    ctx.strokeStyle = this.content.palette.ink;
    ctx.lineWidth = 1;
    const line = (alpha: number, ends: (spread: Spread) => [number, number]): void => {
      ctx.globalAlpha = alpha;
      ctx.beginPath();
      for (const spread of this.content?.spreads ?? []) {
        const middle = Math.round(x.getPixelForValue(spread.x)) + 0.5;
        if (middle < chartArea.left || middle > chartArea.right) continue;
        const [low, high] = ends(spread);
        ctx.moveTo(middle, y.getPixelForValue(low));
        ctx.lineTo(middle, Math.max(chartArea.top, y.getPixelForValue(high)));
      }
      ctx.stroke();
    };
    // Within the bar it must not hide the phases.
    line(0.25, ({ least, bar }) => [Math.min(least, bar), bar]);
    // Close to each other they would be a curtain.
    const room = chartArea.width / this.content.spreads.length;
    line(Math.max(0.2, Math.min(0.75, room / SPARSE)), ({ most, bar }) => [
      bar,
      Math.max(bar, most),
    ]);
    ctx.globalAlpha = 1;
  }

  /** An arrow and its height at the top of each cut bar: of the highest, where there is no room for all. */
  #drawCuts(chart: Chart): void {
    const scale = chart.scales['x'];
    if (this.content?.cut === undefined || scale === undefined) return;
    const { ctx, chartArea } = chart;
    const { cut, palette } = this.content;
    const { left, right, top } = chartArea;
    const pixel = ({ x }: CutValue): number => scale.getPixelForValue(x);
    const shown = cut.filter((one) => pixel(one) >= left && pixel(one) <= right);
    ctx.setLineDash([]);
    ctx.fillStyle = palette.ink;
    ctx.strokeStyle = palette.surface;
    ctx.lineWidth = 3;
    ctx.font = `10px ${palette.font}`;
    const isLast = (one: CutValue): boolean => pixel(one) > right - CUT_ROOM;
    // The last text is before its arrow.
    const start = (one: CutValue): number => pixel(one) - (isLast(one) ? CUT_ROOM : 0);
    for (const one of highestApart(shown, start, CUT_ROOM)) {
      const middle = pixel(one);
      ctx.beginPath();
      ctx.moveTo(middle - 4, top + 1);
      ctx.lineTo(middle + 4, top + 1);
      ctx.lineTo(middle, top - 5);
      ctx.fill();
      ctx.textAlign = isLast(one) ? 'right' : 'left';
      const at = middle + (isLast(one) ? -6 : 6);
      // Lines of switches end at it.
      ctx.strokeText(one.label, at, top - 3);
      ctx.fillText(one.label, at, top - 3);
    }
    ctx.textAlign = 'left';
  }
}
