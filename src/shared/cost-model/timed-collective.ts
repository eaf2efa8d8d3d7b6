/** A collective that was timed on a network, as a profile keeps it. */
import { z } from 'zod';

export const timedCollective = z.strictObject({
  collective: z.string(),
  ranks: z.int().min(2),
  /** N, elements. */
  length: z.int().min(0),
  /** k, entries a rank, of sparse vectors. */
  nnz: z.int().min(0).optional(),
  /** Lower quartile of the repetitions, each the time of the rank that took longest. */
  seconds: z.number().positive().lt(1e6),
  /** What the model says by this profile's constants alone. */
  predicted: z.number().positive().lt(1e6),
});
export type TimedCollective = z.infer<typeof timedCollective>;
