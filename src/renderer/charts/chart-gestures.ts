/**
 * The gestures of a run's charts on a canvas: moving the pointer sets the cursor, dragging
 * selects what is shown next, dragging with Shift moves it, a click pins, and the wheel zooms. The wheel is
 * the page's own unless Ctrl is held or the chart was reached with the keyboard, so that nobody is
 * caught by a chart while scrolling: a click gives it the focus for keys alone.
 */
import type { ChartView } from './chart-view.svelte.ts';
import { PointerDrag } from './pointer-drag.ts';
import { WheelOwner } from './wheel-owner.ts';

/** The factor by which one unit of a wheel zooms. */
const WHEEL = 1.0015;

/** The places of a chart's iterations on its canvas. */
export interface Geometry {
  /** The iteration at a pixel, a fraction; undefined while nothing is drawn. */
  readonly iterationAt: (x: number) => number | undefined;
  /** Pixels of the plot. */
  readonly width: () => number;
  /** Pins what is drawn at an iteration, a fraction. */
  readonly pin: (place: number) => void;
}

/** Follows the pointer on a canvas. @returns a function that ends it */
export function gesturesOn(
  canvas: HTMLCanvasElement,
  view: ChartView,
  { iterationAt, pin, width }: Geometry,
): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  let drag: PointerDrag | undefined;
  const owner = new WheelOwner();

  const wheel = (event: WheelEvent): void => {
    const hasFocus = canvas.closest('[tabindex]') === document.activeElement;
    const at = iterationAt(event.offsetX);
    if (at === undefined || !owner.isChart(event, hasFocus)) return;
    event.preventDefault();
    // Lines or pages, in browsers that count so.
    const unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? 16 : 400;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = event.deltaX === 0 ? event.deltaY : event.deltaX;
      view.move((by * unit) / width());
    } else view.zoom(WHEEL ** (event.deltaY * unit), at);
  };

  const down = (event: PointerEvent): void => {
    const from = iterationAt(event.offsetX);
    if (event.button !== 0 || from === undefined) return;
    canvas.setPointerCapture(event.pointerId);
    owner.pointed();
    const once = { once: true, signal };
    canvas.closest('[tabindex]')?.addEventListener('blur', () => owner.left(), once);
    drag = new PointerDrag(event.offsetX, from, event.shiftKey);
  };

  const move = (event: PointerEvent): void => {
    const at = iterationAt(event.offsetX);
    if (at === undefined) return;
    view.cursor.iteration = at;
    if (drag === undefined) return;
    const { isFar, step } = drag.to(event.offsetX);
    if (drag.moves) view.move(-step / width());
    else {
      view.selection = isFar
        ? { from: Math.min(drag.from, at), to: Math.max(drag.from, at) }
        : undefined;
    }
  };

  const up = (): void => {
    const { selection } = view;
    if (drag?.isClick === true) pin(drag.from);
    else if (selection !== undefined) view.showBetween(selection.from, selection.to);
    end();
  };

  const end = (): void => {
    drag = undefined;
    view.selection = undefined;
  };

  // Svelte's own wheel listeners are passive, and the page would scroll as well.
  canvas.addEventListener('wheel', wheel, { passive: false, signal });
  canvas.addEventListener('pointerdown', down, { signal });
  canvas.addEventListener('pointermove', move, { signal });
  canvas.addEventListener('pointerup', up, { signal });
  canvas.addEventListener('pointercancel', end, { signal });
  return () => ended.abort();
}
