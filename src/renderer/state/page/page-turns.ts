/** The turns of this page: ticks of its clocks and drawings of its charts. */
import { FrameTurns } from './frame-turns.ts';

export const pageTurns = new FrameTurns((callback) => {
  requestAnimationFrame(callback);
});
