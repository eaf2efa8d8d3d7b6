/**
 * The similarity of the ranks in an iteration, bucket by bucket, under a method that measures
 * it on request. Made by rank 0, whose own entries the rank correlation compares.
 */
import { z } from 'zod';
import { bucketName } from './bucket-name.ts';
import { count } from './fields.ts';
import { eventKind, NO_TABLES, unchanged, unprinted } from './record-kind.ts';

const similarityRecordSchema = z.strictObject({
  type: z.literal('similarity'),
  at: z.number(),
  iteration: count,
  /** The buckets in the order in which they are exchanged. */
  buckets: z
    .array(
      z.strictObject({
        /** Names of the bucket's tensors. */
        tensors: z.array(z.string()).readonly(),
        /** Mean over pairs of ranks of 1 − cosine of their residuals. */
        residualDistance: z.number().optional(),
        /** Share of the largest entries of the average that were not chosen. */
        hammingDistance: z.number().optional(),
        /** Share of the magnitude of the largest entries of the average that those chosen have. */
        magnitudeShare: z.number().optional(),
        /** ‖top-k of the average − average of the ranks’ top-k‖/‖average gradient‖. */
        selectionDistance: z.number().optional(),
        /** Spearman's, of the magnitudes of this rank's entries and the average's. */
        rankCorrelation: z.number().optional(),
        /** ‖y − y as sent‖²/‖y‖² of the average y. */
        contraction: z.number().optional(),
        /** The most that ScaleCom's Lemma 1 expects of it, by the Hamming distance. */
        contractionBound: z.number().optional(),
      }),
    )
    .readonly(),
});
export type SimilarityRecord = z.infer<typeof similarityRecordSchema>;

export const similarityKind = eventKind({
  schema: similarityRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  printed: unprinted,
  tables: NO_TABLES,
  folds: true,
  text: ({ buckets, iteration }) => ({
    tone: 'plain',
    title: 'Similarity of ranks',
    iteration,
    text: buckets.map(bucketText).join('; '),
  }),
  summary: unchanged,
});

/** `layer1.weight … layer3.bias: cosine distance of residuals 0.2, …` */
function bucketText(bucket: SimilarityRecord['buckets'][number]): string {
  const {
    contraction,
    contractionBound,
    hammingDistance,
    magnitudeShare,
    rankCorrelation,
    residualDistance,
    selectionDistance,
  } = bucket;
  const facts = [
    ['cosine distance of residuals', residualDistance],
    ['Hamming distance', hammingDistance],
    ['share of the largest magnitudes', magnitudeShare],
    ['selection distance', selectionDistance],
    ['rank correlation', rankCorrelation],
    ['contraction', contraction],
    ['bound of the contraction', contractionBound],
  ] as const;
  const known = facts.flatMap(([what, value]) =>
    value === undefined ? [] : [`${what} ${value.toFixed(3)}`],
  );
  const text = known.length === 0 ? 'nothing to compare' : known.join(', ');
  return `${bucketName(bucket.tensors)}: ${text}`;
}
