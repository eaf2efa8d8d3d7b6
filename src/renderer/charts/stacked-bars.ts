/**
 * Stacked bars of phases, drawn straight onto a canvas: as elements of a chart, fourteen for
 * each bar, they would cost more than everything else on the page.
 */
import { PHASES, type Phase } from '../../shared/records/phases.ts';
import { meanOf, type Bin } from '../state/history/bin.ts';
import type { Palette } from './palette.ts';

/** The place of a bin's bar, in pixels. */
interface BarPlace {
  readonly left: number;
  readonly right: number;
  /** Pixels of a millisecond. */
  readonly perMillisecond: number;
}

export interface StackedBars {
  readonly bins: readonly Bin[];
  readonly places: readonly BarPlace[];
  /** The pixel at which bars begin. */
  readonly bottom: number;
  readonly isShown: (field: Phase | 'overlapped') => boolean;
  readonly palette: Palette;
}

/** Pixels: the edges of lower segments would be specks. */
const LEAST_EDGED = 8;

export function drawStackedBars(
  context: CanvasRenderingContext2D,
  bars: StackedBars,
): void {
  const { bins, bottom, isShown, palette, places } = bars;
  const tops = new Float64Array(bins.length).fill(bottom);
  const fill = (index: number, from: number, height: number): void => {
    const { left, right } = places[index]!;
    const room = right - left;
    // A gap between bars where there is room for it.
    const width = Math.max(1, room >= 4 ? room - 1 : room);
    context.fillRect(left, from - height, width, height);
  };
  /** Bottoms of segments that stand on another. */
  const edges: { readonly index: number; readonly at: number }[] = [];
  const overlaps = new Float64Array(bins.length).fill(bottom);
  for (const phase of PHASES) {
    if (!isShown(phase)) continue;
    context.fillStyle = palette.fills[phase];
    for (let index = 0; index < bins.length; index++) {
      const time = meanOf(bins[index]!, phase) ?? 0;
      if (time <= 0) continue;
      const height = time * places[index]!.perMillisecond;
      fill(index, tops[index]!, height);
      if (height >= LEAST_EDGED && tops[index]! < bottom) {
        edges.push({ index, at: tops[index]! });
      }
      tops[index]! -= height;
      // What is hidden is so under computing, which begins where data ends.
      if (phase === 'data') overlaps[index]! -= height;
    }
  }
  context.fillStyle = palette.edge;
  for (const { at, index } of edges) fill(index, at, 1);
  if (!isShown('overlapped')) return;
  context.fillStyle = palette.hatch;
  for (let index = 0; index < bins.length; index++) {
    const time = meanOf(bins[index]!, 'overlapped') ?? 0;
    if (time > 0) fill(index, overlaps[index]!, time * places[index]!.perMillisecond);
  }
}
