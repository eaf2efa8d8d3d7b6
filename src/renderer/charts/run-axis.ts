/** Movement on a chart of a run: what the pointer does, as places on its own axis. */
import type { Chart } from 'chart.js';
import { gesturesOn } from './chart-gestures.ts';
import type { ChartedRun } from './charted-run.svelte.ts';
import type { Cursor } from './cursor.svelte.ts';
import { pinPoint } from './pin-bar.ts';
import type { Moving } from './overlay.ts';

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

/**
 * Follows the pointer on a chart; without a run, it only moves the cursor.
 * @param pin pins what is drawn at an iteration; default: a point of the curves
 */
export function followPointer(
  canvas: HTMLCanvasElement,
  chart: Chart,
  run: ChartedRun | undefined,
  cursor: Cursor,
  pin?: (place: number) => void,
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
    pin: pin ?? ((place) => pinPoint(run.view, run.bins, place)),
    width: () => Math.max(1, chart.chartArea.width),
  });
}
