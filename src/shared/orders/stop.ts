/** Stop after the current iteration, or at once; answered when the run has ended. */
import { z } from 'zod';
import { nothingMore, orderDefinition } from './order.ts';

export const stopOrder = orderDefinition({
  type: 'stop',
  /** `now`: its processes are ended, as if they had been killed: for a program that hangs. */
  asked: z.object({ now: z.boolean().optional() }),
  answer: nothingMore,
  told: nothingMore,
  asks: 'any',
  isReading: true,
});
