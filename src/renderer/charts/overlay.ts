/**
 * The overlay of a chart: a vertical line with a label at each fence, and the cursor
 * shared by all charts. One Chart.js plugin per chart, configured before each update.
 */
import type { Chart, Plugin } from 'chart.js';
import type { Palette } from './palette.ts';

export interface Marker {
  /** The fence: the first iteration under the new plan. */
  readonly iteration: number;
  readonly label: string;
}

/** The spread of a bar's iterations. */
interface Spread {
  /** The bar's position. */
  readonly x: number;
  readonly least: number;
  readonly most: number;
  /** The bar's top. */
  readonly bar: number;
}

/** A bar, or its spread, that reaches beyond the axis. */
interface CutBar {
  /** The bar's position. */
  readonly x: number;
  readonly label: string;
}

export interface OverlayContent {
  readonly cut?: readonly CutBar[];
  readonly spreads?: readonly Spread[];
  readonly markers: readonly Marker[];
  readonly cursor: number | undefined;
  readonly palette: Palette;
  readonly labels: boolean;
}

export class Overlay {
  content: OverlayContent | undefined;

  readonly plugin: Plugin = {
    id: 'overlay',
    afterDatasetsDraw: (chart) => this.#draw(chart),
  };

  #draw(chart: Chart): void {
    const scale = chart.scales['x'];
    if (this.content === undefined || scale === undefined) return;
    const { markers, cursor, palette, labels } = this.content;
    const { ctx, chartArea } = chart;
    ctx.save();
    ctx.font = `600 11px ${palette.font}`;
    ctx.textBaseline = 'middle';
    let free = -Infinity;
    for (const marker of markers) {
      // A fence is before its iteration's bar.
      const x = Math.round(scale.getPixelForValue(marker.iteration - 0.5)) + 0.5;
      if (x < chartArea.left - 0.5 || x > chartArea.right) continue;
      ctx.strokeStyle = palette.ink;
      ctx.lineWidth = 1.5;
      ctx.setLineDash([4, 3]);
      ctx.beginPath();
      ctx.moveTo(x, labels ? chartArea.top - 12 : chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      if (!labels) continue;
      const width = ctx.measureText(marker.label).width + 10;
      const left = Math.min(x, chartArea.right - width);
      if (left < free) continue;
      free = left + width + 2;
      ctx.setLineDash([]);
      ctx.fillStyle = palette.ink;
      ctx.fillRect(left, chartArea.top - 26, width, 16);
      ctx.fillStyle = palette.surface;
      ctx.fillText(marker.label, left + 5, chartArea.top - 17.5);
    }
    this.#drawSpreads(chart);
    this.#drawCuts(chart);
    if (cursor !== undefined) {
      const x = Math.round(scale.getPixelForValue(cursor)) + 0.5;
      if (x >= chartArea.left && x <= chartArea.right) {
        ctx.setLineDash([]);
        ctx.strokeStyle = palette.accent;
        ctx.lineWidth = 1;
        ctx.beginPath();
        ctx.moveTo(x, chartArea.top);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
      }
    }
    ctx.restore();
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
        const [low, high] = ends(spread);
        ctx.moveTo(middle, y.getPixelForValue(low));
        ctx.lineTo(middle, Math.max(chartArea.top, y.getPixelForValue(high)));
      }
      ctx.stroke();
    };
    // Within the bar it must not hide the phases.
    line(0.25, ({ least, bar }) => [Math.min(least, bar), bar]);
    line(0.75, ({ most, bar }) => [bar, Math.max(bar, most)]);
    ctx.globalAlpha = 1;
  }

  /** An arrow at the top of each cut bar, and its height where there is room for it. */
  #drawCuts(chart: Chart): void {
    const scale = chart.scales['x'];
    if (this.content?.cut === undefined || scale === undefined) return;
    const { ctx, chartArea } = chart;
    const { palette } = this.content;
    ctx.setLineDash([]);
    ctx.fillStyle = palette.ink;
    ctx.font = `10px ${palette.font}`;
    let free = -Infinity;
    const { cut } = this.content;
    for (const [index, { x, label }] of cut.entries()) {
      const middle = scale.getPixelForValue(x);
      const { top } = chartArea;
      ctx.beginPath();
      ctx.moveTo(middle - 4, top + 1);
      ctx.lineTo(middle + 4, top + 1);
      ctx.lineTo(middle, top - 5);
      ctx.fill();
      const width = ctx.measureText(label).width;
      const left = Math.min(middle + 6, chartArea.right - width);
      const next = cut[index + 1];
      const arrow = next === undefined ? Infinity : scale.getPixelForValue(next.x) - 5;
      if (left < free || left < middle - 1 || left + width > arrow) continue;
      free = left + width + 14;
      ctx.fillText(label, left, top - 3);
    }
  }
}
