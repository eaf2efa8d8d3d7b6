/**
 * Records of periodic measurements beside training: how good the model is, and what compression
 * does to its gradients. As in records.ts, what was not observed is absent.
 */
import { z } from 'zod';
import { metricKindSchema } from './metric.ts';

const time = z.number().min(0);
const count = z.number().int().min(0);

/** The test set, evaluated together by all ranks after an iteration. Made by rank 0. */
export const evaluationRecordSchema = z.strictObject({
  type: z.literal('evaluation'),
  iteration: count,
  at: z.number(),
  /** Absent if it is not finite, like `metric`; a notice reports that. */
  loss: z.number().optional(),
  /** Accuracy on the test set, 0…1. If replicas drift: of each on its share of the set. */
  metric: z.number().optional(),
  /** If replicas drift: of the model whose weights are their average. */
  averaged: z
    .strictObject({ loss: z.number().optional(), metric: z.number().optional() })
    .optional(),
  /** As in the record of the start. */
  metricKind: metricKindSchema.optional(),
  samples: count,
  wall: time,
});
export type EvaluationRecord = z.infer<typeof evaluationRecordSchema>;

/** Compares what was applied in this iteration with what uncompressed ranks would apply. */
export const comparisonRecordSchema = z.strictObject({
  type: z.literal('comparison'),
  at: z.number(),
  iteration: count,
  /** ‖applied − uncompressed‖ / ‖uncompressed‖; absent if the latter is 0. */
  error: z.number().optional(),
  /** Absent if one of them is 0. */
  cosine: z.number().optional(),
});

/** How far the replicas have drifted apart: max over ranks of ‖wᵢ − w̄‖/‖w̄‖. */
export const divergenceRecordSchema = z.strictObject({
  type: z.literal('divergence'),
  at: z.number(),
  iteration: count,
  value: z.number(),
});

/**
 * How similar the ranks were in an iteration, bucket by bucket, under a method that measures it
 * on request. Made by rank 0, whose own entries the rank correlation compares.
 */
export const similarityRecordSchema = z.strictObject({
  type: z.literal('similarity'),
  at: z.number(),
  iteration: count,
  buckets: z
    .array(
      z.strictObject({
        /** Names of the bucket's tensors. */
        tensors: z.array(z.string()).readonly(),
        /** Mean over pairs of ranks of 1 − cosine of their residuals. */
        residualDistance: z.number().optional(),
        /** Share of the largest entries of the average that were not chosen. */
        hammingDistance: z.number().optional(),
        /** Spearman's, of the magnitudes of this rank's entries and the average's. */
        rankCorrelation: z.number().optional(),
        /** ‖y − y as sent‖²/‖y‖² of the average y. */
        contraction: z.number().optional(),
      }),
    )
    .readonly(),
});
export type SimilarityRecord = z.infer<typeof similarityRecordSchema>;

/**
 * What each bucket sent and kept back in an iteration, as rank 0 saw it, every
 * `inspectEvery` iterations.
 */
export const bucketsRecordSchema = z.strictObject({
  type: z.literal('buckets'),
  at: z.number(),
  iteration: count,
  /** In the order in which they are exchanged. */
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
        /** For a method that keeps thresholds: one per tensor. */
        thresholds: z
          .array(
            z.strictObject({
              tensor: z.string(),
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
