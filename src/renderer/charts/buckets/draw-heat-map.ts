/** Draws a heat map into a plot: a row for each bucket, a column for each interval. */
import type { Palette } from '../palette.ts';
import type { HeatColour } from './heat-colours.ts';

export interface HeatMap {
  /** Pixels of each column's edges. */
  readonly columns: readonly { readonly left: number; readonly right: number }[];
  /** Rows from the top; null: not observed. */
  readonly rows: readonly (readonly (number | null)[])[];
  /** The value with the strongest colour. */
  readonly top: number;
  /** The row that is marked, if any. */
  readonly marked: number | undefined;
  readonly colour: HeatColour;
  readonly palette: Palette;
}

interface Plot {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export function drawHeatMap(
  context: CanvasRenderingContext2D,
  plot: Plot,
  { colour, columns, marked, palette, rows, top }: HeatMap,
): void {
  const height = (plot.bottom - plot.top) / Math.max(1, rows.length);
  // Where rows are high enough, a gap tells them apart.
  const gap = height >= 6 ? 1 : 0;
  for (const [row, cells] of rows.entries()) {
    const y = Math.round(plot.top + row * height);
    const bottom = Math.round(plot.top + (row + 1) * height);
    for (const [index, { left, right }] of columns.entries()) {
      const value = cells[index];
      if (value === null || value === undefined) continue;
      if (right < plot.left || left > plot.right) continue;
      context.fillStyle = colour(value / top);
      const x = Math.round(left);
      context.fillRect(x, y, Math.max(1, Math.round(right) - x), bottom - y - gap);
    }
    if (row !== marked) continue;
    context.strokeStyle = palette.ink;
    context.lineWidth = 1;
    context.strokeRect(
      plot.left + 0.5,
      y + 0.5,
      plot.right - plot.left - 1,
      Math.max(2, bottom - y - 1),
    );
  }
}
