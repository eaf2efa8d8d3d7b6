/**
 * Trace the next iterations: each rank records when its threads did what, and its messages. The
 * ranks agree on the first of these iterations, so all trace the same.
 */
import { z } from 'zod';
import { orderDefinition } from './order.ts';

/** Most iterations of one order. A trace of one takes up to 200 kB on each rank. */
export const MOST_TRACED = 1000;

/**
 * `from`: the first of them. Ranks of programs that are only observed do not talk to each other: the
 * first machine asked chooses it.
 */
const length = z.object({
  iterations: z.int().min(1).max(MOST_TRACED),
  from: z.int().min(0).optional(),
});

export const traceOrder = orderDefinition({
  type: 'trace',
  asked: length,
  answer: length.pick({ from: true }),
  told: length,
  asks: 'any',
  isReading: false,
});
