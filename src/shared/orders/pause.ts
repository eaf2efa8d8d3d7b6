/**
 * Stop after the current iteration as if interrupted: with a checkpoint but no result. A
 * supervisor gives it when the nodes of a run are about to be taken back.
 */
import { nothingMore, orderDefinition } from './order.ts';

export const pauseOrder = orderDefinition({
  type: 'pause',
  asked: undefined,
  answer: nothingMore,
  told: nothingMore,
  asks: 'any',
  isReading: false,
});
