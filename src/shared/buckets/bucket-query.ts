/** A request for a run's buckets, as the page and the command make it. */
import { z } from 'zod';
import { BUCKET_MEASURE_IDS } from './bucket-measures.ts';

/** Most columns of a table. */
export const MOST_COLUMNS = 400;

/** A request for the buckets of a run. */
export const bucketQuerySchema = z.strictObject({
  from: z.int().min(0),
  /** Exclusive. */
  to: z.int().min(0),
  /** Most columns of iterations. */
  columns: z.int().min(0).max(MOST_COLUMNS),
  /** The measure in the columns. */
  measure: z.enum(BUCKET_MEASURE_IDS),
  /** Default: the mean over all ranks. */
  rank: z.int().min(0).optional(),
});
export type BucketQuery = Readonly<z.infer<typeof bucketQuerySchema>>;
