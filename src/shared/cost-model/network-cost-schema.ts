/** The schema of a network's costs, which every rank of a run gets with its launch. */
import { z } from 'zod';
import type { NetworkCost } from './network-cost.ts';
import { timedCollective } from './timed-collective.ts';

/** Far more than there are sizes of messages, or shapes of collectives. */
const MOST_MEASUREMENTS = 10_000;

const seconds = z.number().min(0);

const constants = z.object({
  alpha: seconds,
  beta: seconds,
  gamma: seconds,
  overhead: seconds.optional(),
  rates: z
    .array(z.object({ bytes: z.number().positive(), beta: seconds }))
    .max(MOST_MEASUREMENTS)
    .readonly()
    .optional(),
  between: z
    .object({ alpha: seconds, beta: seconds, perRank: z.boolean().optional() })
    .optional(),
  merge: seconds.optional(),
  scatter: seconds.optional(),
});

export const networkCostSchema = constants.extend({
  timed: z
    .object({
      network: constants,
      collectives: z.array(timedCollective.strip()).max(MOST_MEASUREMENTS).readonly(),
    })
    .optional(),
}) satisfies z.ZodType<NetworkCost>;
