/**
 * Charts that changed at the same tick are drawn one after another, as many per frame as
 * fit into a small part of it, so that no task blocks the page.
 */
import { pageTurns } from '../state/page/frame-turns.ts';

const BUDGET_MS = 8;

const waiting = new Set<() => void>();

/** Draw in one of the next frames; asking again before that changes nothing. */
export function drawLater(draw: () => void): void {
  waiting.add(draw);
  pageTurns.take(drawSome);
}

/** The chart is gone: do not draw it any more. */
export function forgetDrawing(draw: () => void): void {
  waiting.delete(draw);
}

function drawSome(): void {
  const end = performance.now() + BUDGET_MS;
  for (const draw of waiting) {
    waiting.delete(draw);
    draw();
    if (performance.now() >= end) break;
  }
  if (waiting.size > 0) pageTurns.take(drawSome);
}
