/**
 * A Chart.js chart on a canvas, owned by the canvas: created with it, redrawn when the
 * data that `draw` reads has changed and the canvas is visible, destroyed with it.
 *
 * Charts that changed at the same tick are drawn one after another, as many per frame as
 * fit into a small part of it, so that no task blocks the page.
 */
import type { Chart as ChartType, ChartConfiguration } from 'chart.js';
import { untrack } from 'svelte';
import type { Attachment } from 'svelte/attachments';
import { pageTurns } from '../state/page/redraw-clock.svelte.ts';
import { Chart } from './chart-registry.ts';

/** Time in a frame that drawings may take before the others wait for the next one. */
const BUDGET_MS = 8;

/** Drawings that wait for a frame, of all charts. */
let waiting: (() => void)[] = [];

interface ChartParts {
  /** Called once. */
  readonly configure: () => ChartConfiguration;
  /** Puts the current data into the chart, which is updated afterwards. */
  readonly draw: (chart: ChartType) => void;
  /** Puts what moves over the data into the chart, which is then painted as it is. */
  readonly mark: () => void;
  /** Follows the pointer. @returns a function that ends it */
  readonly follow: (canvas: HTMLCanvasElement, chart: ChartType) => () => void;
}

export function chart({
  configure,
  draw,
  mark,
  follow,
}: ChartParts): Attachment<HTMLCanvasElement> {
  return (canvas) => {
    let visible = $state(true);
    const observer = new IntersectionObserver((entries) => {
      visible = entries.at(-1)?.isIntersecting ?? visible;
    });
    observer.observe(canvas);
    // Chart.js draws at once: what its callbacks read must not make another chart.
    const made = untrack(() => new Chart(canvas, configure()));
    const unfollow = untrack(() => follow(canvas, made));
    // Not update('none'): Chart.js 4.6 then keeps the colours of bars and points that
    // they had at the first update. Without animation the default mode is as direct.
    const update = (): void => {
      forgetDrawing(paint);
      made.update();
    };
    const paint = (): void => made.draw();
    $effect(() => {
      if (!visible) return;
      draw(made);
      drawLater(update);
    });
    $effect(() => {
      if (!visible) return;
      mark();
      drawLater(paint);
    });
    return () => {
      observer.disconnect();
      unfollow();
      forgetDrawing(update);
      forgetDrawing(paint);
      made.destroy();
      // A delayed resize would still draw.
      made.update = () => undefined;
    };
  };
}

/** Draws in one of the next frames; asking again before that changes nothing. */
function drawLater(draw: () => void): void {
  if (!waiting.includes(draw)) waiting.push(draw);
  pageTurns.take(drawSome);
}

/** Draws it no more, unless it asks again. */
function forgetDrawing(draw: () => void): void {
  waiting = waiting.filter((each) => each !== draw);
}

function drawSome(): void {
  const end = performance.now() + BUDGET_MS;
  while (waiting.length > 0) {
    if (performance.now() >= end) return pageTurns.take(drawSome);
    waiting.shift()!();
  }
}
