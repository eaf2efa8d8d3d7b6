/**
 * Stacked bars without axes, for small multiples: drawn straight onto a canvas, because
 * a chart object per rank would cost more than all other charts together.
 */
import { PHASES } from '../../shared/records/phases.ts';
import { meanOf, type Bin } from '../state/history/bin.ts';
import { fitted } from './bar-heights.ts';
import type { Palette } from './palette.ts';

/** @param top the wall time in milliseconds that fills the height, the same for all ranks */
export function drawStrip(
  canvas: HTMLCanvasElement,
  bins: readonly Bin[],
  axis: { readonly min: number; readonly max: number },
  top: number,
  palette: Palette,
): void {
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
  const perIteration = width / (axis.max - axis.min);
  const scales = bins.map((bin) => {
    const time = PHASES.reduce((sum, phase) => sum + (meanOf(bin, phase) ?? 0), 0);
    return (height / top) * fitted(time, top);
  });
  for (const phase of PHASES) {
    context.fillStyle = palette.fills[phase];
    for (const [index, bin] of bins.entries()) {
      const perMillisecond = scales[index]!;
      let below = 0;
      for (const lower of PHASES) {
        if (lower === phase) break;
        below += meanOf(bin, lower) ?? 0;
      }
      const time = meanOf(bin, phase) ?? 0;
      if (time <= 0) continue;
      const left = (bin.from - 0.5 - axis.min) * perIteration;
      const room = (bin.to - bin.from) * perIteration;
      context.fillRect(
        left,
        height - (below + time) * perMillisecond,
        room >= 4 ? room - 1 : room,
        time * perMillisecond,
      );
    }
  }
}
