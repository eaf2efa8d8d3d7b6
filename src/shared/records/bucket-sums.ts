/**
 * Sums of what each bucket of a rank cost and kept back, over the exchanges of an interval. Made by
 * every rank, of the same intervals.
 */
import { z } from 'zod';
import { count, time } from './fields.ts';
import { recordKind, unprinted } from './record-kind.ts';

/** Phases of a bucket, in the order of an exchange. */
export const BUCKET_PHASES = [
  'compress',
  'send',
  'receive',
  'wait',
  'reduce',
  'decompress',
] as const;
export type BucketPhase = (typeof BUCKET_PHASES)[number];

const phase = time.optional();

const bucketSumSchema = z.strictObject({
  /** The names of the first and the last tensor: `layer1.weight … layer3.bias`. */
  name: z.string(),
  /** The number of its tensors. */
  tensors: count,
  /** Exchanges of the bucket, where models step in turns and its own did not in each iteration. */
  ownExchanges: z.int().min(1).optional(),
  /** Type of its elements, if they are not of 32 bits: `bfloat16`. */
  dtype: z.string().max(40).optional(),
  method: z.string(),
  /** The collective that carried the most bytes of the last exchange. */
  collective: z.string(),
  /** Elements. */
  length: count,
  /**
   * Milliseconds of compressing, a part of the iterations' phases like those below; left out if 0.
   * Where several buckets are in flight, the thread waits for the oldest.
   */
  compress: phase,
  /** Milliseconds of sending. */
  send: phase,
  /** Milliseconds of receiving. */
  receive: phase,
  /** Milliseconds of waiting for a first byte. */
  wait: phase,
  /** Milliseconds of summing. */
  reduce: phase,
  /** Milliseconds of decompressing. */
  decompress: phase,
  /** Milliseconds of all phases while the trainer computed, in no phase above; left out if 0. */
  hidden: phase,
  /** Milliseconds from the beginning of the exchange to the beginning of the bucket. */
  begin: time,
  /** Milliseconds from the beginning of the exchange to the bucket's end. */
  end: time,
  /** Bytes of this rank's payloads; absent if a program sends by itself what nobody here sees. */
  payload: count.optional(),
  /**
   * Bytes of the bucket's messages that this rank sent, without framing; left out if no message was
   * the bucket's own, as in asynchronous training.
   */
  sent: count.optional(),
  /** Entries that this rank sent; absent if the method does not select. */
  nnzLocal: count.optional(),
  /** Entries of the reduced results, if observed. */
  nnzReduced: count.optional(),
  /** Exchanges in which the method selected; left out if it did in all, or in none. */
  selections: z.int().min(1).optional(),
  /** `nnzLocal` of the exchanges whose results' entries were observed; left out if all were. */
  nnzCounted: count.optional(),
  /** Norm of the residual after the interval's last exchange, if the method keeps one. */
  residualNorm: z.number().optional(),
  /**
   * ‖p − sent‖/‖p‖ of that exchange, where p is the gradient with the residual added: what is kept
   * back of what was to be sent. Absent if the method keeps no residual in units of gradients.
   */
  error: z.number().optional(),
});
export type BucketSum = z.infer<typeof bucketSumSchema>;

const bucketSumsRecordSchema = z.strictObject({
  type: z.literal('bucket-sums'),
  at: z.number(),
  rank: count,
  /** The first iteration. */
  from: count,
  /** The iteration after the last. */
  to: count,
  /** Exchanges that are summed. */
  exchanges: z.int().min(1),
  /**
   * Milliseconds of the control message that all ranks exchange beside their buckets: mostly waiting
   * for ranks that are late; left out if 0.
   */
  agreement: phase,
  /** The buckets in the order in which they are exchanged. */
  buckets: z.array(bucketSumSchema).max(10_000).readonly(),
});
export type BucketSumsRecord = z.infer<typeof bucketSumsRecordSchema>;

export const bucketSumsKind = recordKind({
  schema: bucketSumsRecordSchema,
  repetition: {
    by: 'name',
    name: ({ from, rank, to }) => `bucket sums ${rank}/${from}/${to}`,
    untilNew: false,
  },
  thinning: 'measures',
  printed: unprinted,
  tables: [
    {
      id: 'buckets',
      title: 'Buckets, a row per rank and interval',
      columns: 'parts',
    },
  ],
});
