/** Stacked bars without axes, for small multiples. */
import { PHASES } from '../../shared/records/phases.ts';
import { meanOf, type Bin } from '../state/history/bin.ts';
import type { AxisMap } from './axis-map.ts';
import type { AxisRange } from './axis-range.ts';
import { fitted } from './bar-heights.ts';
import type { Palette } from './palette.ts';
import { drawStackedBars } from './stacked-bars.ts';

export interface Strip {
  readonly bins: readonly Bin[];
  /** The range that is shown, on the axis. */
  readonly range: AxisRange;
  readonly map: AxisMap;
  /** The wall time in milliseconds that fills the height, the same for all ranks. */
  readonly top: number;
  readonly palette: Palette;
}

export function drawStrip(canvas: HTMLCanvasElement, strip: Strip): void {
  const { bins, map, palette, range, top } = strip;
  const scale = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return;
  if (canvas.width !== Math.round(width * scale))
    canvas.width = Math.round(width * scale);
  if (canvas.height !== Math.round(height * scale)) {
    canvas.height = Math.round(height * scale);
  }
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('internal: no 2D canvas');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  const pixel = (iteration: number): number =>
    ((map.toX(iteration) - range.min) / (range.max - range.min)) * width;
  drawStackedBars(context, {
    bins,
    places: bins.map((bin) => {
      const time = PHASES.reduce((sum, phase) => sum + (meanOf(bin, phase) ?? 0), 0);
      return {
        left: pixel(bin.from - 0.5),
        right: pixel(bin.to - 0.5),
        perMillisecond: (height / top) * fitted(time, top),
      };
    }),
    bottom: height,
    isShown: (field) => field !== 'overlapped',
    palette,
  });
}
