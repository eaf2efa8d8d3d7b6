/**
 * A record of each bucket in an iteration: what was sent and kept back, as rank 0 saw it,
 * every `inspectEvery` iterations.
 */
import { z } from 'zod';
import { formatPercent, formatQuantity } from '../words/units.ts';
import { bucketName } from './bucket-name.ts';
import { count } from './fields.ts';
import { eventKind, NO_TABLES, unchanged, unprinted } from './record-kind.ts';

const bucketsRecordSchema = z.strictObject({
  type: z.literal('buckets'),
  at: z.number(),
  iteration: count,
  /** The buckets in the order in which they are exchanged. */
  buckets: z
    .array(
      z.strictObject({
        /** Names of the bucket's tensors. */
        tensors: z.array(z.string()).readonly(),
        method: z.string(),
        /** Elements. */
        length: count,
        /** Bytes of this rank's payload. */
        payload: count,
        /** Entries that this rank sent, k; absent if the method does not select. */
        nnzLocal: count.optional(),
        /** Entries of the reduced result, K, if observed. */
        nnzReduced: count.optional(),
        /** nnzLocal / length. */
        density: z.number().optional(),
        /** K/k: 1 where all ranks send the same entries, P where none do. */
        fillIn: z.number().optional(),
        /** Norm of this rank's residual for the bucket. */
        residualNorm: z.number().optional(),
        /** Thresholds of a method that keeps them, one per tensor. */
        thresholds: z
          .array(
            z.strictObject({
              /** Name of the tensor. */
              tensor: z.string(),
              /** The magnitude from which entries are sent. */
              threshold: z.number(),
              /** Entries that reached it in this iteration. */
              selected: count,
              /** Entries that reached it when it was found. */
              wanted: count,
              /** Iterations since it was found; absent after a restart. */
              age: count.optional(),
              /** Relative, from the threshold that it replaced. */
              change: z.number().optional(),
            }),
          )
          .readonly()
          .optional(),
      }),
    )
    .readonly(),
});
export type BucketsRecord = z.infer<typeof bucketsRecordSchema>;

export const bucketsKind = eventKind({
  schema: bucketsRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  printed: unprinted,
  tables: NO_TABLES,
  folds: true,
  text: ({ buckets, iteration }) => ({
    tone: 'plain',
    title: 'Buckets',
    iteration,
    text: buckets.map(bucketText).join('; '),
  }),
  summary: unchanged,
});

/** `layer1.weight … layer3.bias: top-k, 1 % sent, fill-in 1.8, residual norm 3.2` */
function bucketText(bucket: BucketsRecord['buckets'][number]): string {
  const { density, fillIn, method, residualNorm, tensors, thresholds = [] } = bucket;
  const stray = thresholds
    .map(({ selected, wanted }) => selected / wanted)
    .toSorted((a, b) => Math.abs(Math.log(b)) - Math.abs(Math.log(a)))[0];
  const facts = [
    method,
    ...(density === undefined ? [] : [`${formatPercent(density)} sent`]),
    ...(fillIn === undefined ? [] : [`fill-in ${formatQuantity(fillIn)}`]),
    ...(residualNorm === undefined
      ? []
      : [`residual norm ${formatQuantity(residualNorm)}`]),
    ...(stray === undefined
      ? []
      : [
          `the most drifted threshold selects ${formatQuantity(stray)} × the target count`,
        ]),
  ];
  return `${bucketName(tensors)}: ${facts.join(', ')}`;
}
