/** A chart's part of the view that all charts of a run share, as places on its own axis. */
import type { Chart } from 'chart.js';
import type { AxisRange } from './axis-range.ts';
import { gesturesOn } from './chart-gestures.ts';
import type { ChartedRun } from './charted-run.svelte.ts';
import type { Cursor } from './cursor.svelte.ts';
import type { PlacedMarker } from './draw-markers.ts';
import { MARKER_STYLES } from './markers.ts';
import type { Moving } from './overlay.ts';

/** The range that is shown. */
export function rangeOn({ axis, map }: ChartedRun): AxisRange {
  const [min, max] = [map.toX(axis.min), map.toX(axis.max)];
  // Nothing may have been sent in it.
  return { min, max: max > min ? max : min + 1 };
}

/** The markers; a fence is before its iteration. */
export const placedMarkers = ({ map, markers }: ChartedRun): readonly PlacedMarker[] =>
  markers.map(({ iteration, kind, label }) => ({
    kind,
    label,
    x: map.toX(MARKER_STYLES[kind].sign === 'fence' ? iteration - 0.5 : iteration),
  }));

/** The cursor, the pin and what is being selected. */
export function movingOn({ map, view }: ChartedRun): Moving {
  const { cursor, pinned, selection } = view;
  const at = cursor.iteration;
  return {
    cursor: at === undefined ? undefined : map.toX(at),
    pinned: pinned === undefined ? undefined : map.toX(pinned),
    selection: selection && {
      from: map.toX(selection.from),
      to: map.toX(selection.to),
    },
  };
}

/** Follows the pointer on a chart; without a run, it only moves the cursor. */
export function followPointer(
  canvas: HTMLCanvasElement,
  chart: Chart,
  run: ChartedRun | undefined,
  cursor: Cursor,
): () => void {
  const valueAt = (x: number): number | undefined =>
    chart.scales['x']?.getValueForPixel(x);
  if (run === undefined) {
    const move = ({ offsetX }: PointerEvent): void => {
      cursor.iteration = valueAt(offsetX);
    };
    canvas.addEventListener('pointermove', move);
    return () => canvas.removeEventListener('pointermove', move);
  }
  return gesturesOn(canvas, run.view, {
    iterationAt: (x) => {
      const value = valueAt(x);
      return value === undefined ? undefined : run.map.toIteration(value);
    },
    width: () => Math.max(1, chart.chartArea.width),
  });
}
