/** Stop after the current iteration; answered when the run has ended. */
import { nothingMore, orderDefinition } from './order.ts';

export const stopOrder = orderDefinition({
  type: 'stop',
  asked: nothingMore,
  answer: nothingMore,
  told: nothingMore,
  asks: 'any',
  isReading: true,
});
