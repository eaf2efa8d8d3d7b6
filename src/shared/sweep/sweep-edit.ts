/** Changes of a sweep after it was made. */
import { z } from 'zod';
import { MOST_AT_ONCE, MOST_SWEEP_RUNS } from './sweep-definition.ts';

const someRuns = z.array(z.int().min(1)).min(1).max(MOST_SWEEP_RUNS);

export const sweepEditSchema = z.discriminatedUnion('type', [
  /** Takes runs that wait out of the queue. */
  z.strictObject({ type: z.literal('drop'), runs: someRuns }),
  /** Puts runs that were dropped, have failed or were stopped into the queue again. */
  z.strictObject({ type: z.literal('retry'), runs: someRuns }),
  /** Puts runs that wait at the front of the queue, in this order. */
  z.strictObject({ type: z.literal('first'), runs: someRuns }),
  /** Adds seeds to all points. */
  z.strictObject({
    type: z.literal('seeds'),
    seeds: z.array(z.int().min(0).max(0xffffffff)).min(1).max(MOST_SWEEP_RUNS),
  }),
  z.strictObject({
    type: z.literal('at-once'),
    atOnce: z.int().min(1).max(MOST_AT_ONCE),
  }),
]);

export type SweepEdit = z.infer<typeof sweepEditSchema>;
