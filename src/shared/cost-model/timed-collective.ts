/** A collective that was timed on a network, as stored in a profile. */
import { z } from 'zod';

export const timedCollective = z.strictObject({
  collective: z.string(),
  ranks: z.int().min(2),
  /** N, elements. */
  length: z.int().min(0),
  /** k, entries a rank, of sparse vectors. */
  nnz: z.int().min(0).optional(),
  /** Lower quartile over repetitions of the slowest rank's time. */
  seconds: z.number().positive().lt(1e6),
  /** The model's prediction from this profile's constants alone. */
  predicted: z.number().positive().lt(1e6),
});
export type TimedCollective = z.infer<typeof timedCollective>;
