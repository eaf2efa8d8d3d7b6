/**
 * A Chart.js chart on a canvas, owned by the canvas: created with it, redrawn when the
 * data that `draw` reads has changed and the canvas is visible, destroyed with it.
 */
import type { Chart as ChartType, ChartConfiguration } from 'chart.js';
import { untrack } from 'svelte';
import type { Attachment } from 'svelte/attachments';
import { Chart } from './chart-registry.ts';
import { drawLater, forgetDrawing } from './draw-queue.ts';

/**
 * @param configure read once
 * @param draw puts the current data into the chart, which is updated afterwards
 */
export function chart(
  configure: () => ChartConfiguration,
  draw: (chart: ChartType) => void,
): Attachment<HTMLCanvasElement> {
  return (canvas) => {
    let visible = $state(true);
    const observer = new IntersectionObserver((entries) => {
      visible = entries.at(-1)?.isIntersecting ?? visible;
    });
    observer.observe(canvas);
    const made = new Chart(canvas, untrack(configure));
    // Not update('none'): Chart.js 4.6 then keeps the colours of bars and points that
    // they had at the first update. Without animation the default mode is as direct.
    const update = (): void => {
      made.update();
    };
    $effect(() => {
      if (!visible) return;
      draw(made);
      drawLater(update);
    });
    return () => {
      observer.disconnect();
      forgetDrawing(update);
      made.destroy();
      // A delayed resize would still draw.
      made.update = () => undefined;
    };
  };
}
