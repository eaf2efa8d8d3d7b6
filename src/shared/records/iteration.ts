/** One per rank and iteration. */
import { z } from 'zod';
import { PHASES, PIPELINE_PHASES, type Phase, type PipelinePhase } from '../phases.ts';
import { count, time } from './fields.ts';
import { recordKind, unprinted } from './record-kind.ts';

const phasesSchema = z.strictObject({
  ...(Object.fromEntries(PHASES.map((phase) => [phase, time])) as Record<
    Exclude<Phase, PipelinePhase>,
    typeof time
  >),
  ...(Object.fromEntries(
    PIPELINE_PHASES.map((phase) => [phase, time.optional()]),
  ) as Record<PipelinePhase, z.ZodOptional<typeof time>>),
});

export const iterationRecordSchema = z.strictObject({
  type: z.literal('iteration'),
  rank: count,
  iteration: count,
  at: z.number(),
  /** The iteration's wall time; the phases add up to it. */
  wall: time,
  phases: phasesSchema,
  /** The part of `wait` spent on each awaited rank, by rank. */
  waitedFor: z.record(z.string(), time).optional(),
  /**
   * Communication hidden under compute: compressing and summing while bytes were in
   * flight, and all parts of an exchange that ran while the trainer computed (`overlap`,
   * `doubleBuffer`). It is in no phase.
   */
  overlapped: time,
  /**
   * Iterations by which the applied gradient is older than the weights (`doubleBuffer`), or
   * iterations of the slowest rank whose pushes the weights lacked (asynchronous training);
   * default: 0.
   */
  staleness: count.optional(),
  /** The trainer thread that computed the gradient, if the rank has several. */
  trainerThread: count.optional(),
  /** Set if the rank also sent all of its residual (`parallelism.drainEvery`). */
  drained: z.literal(true).optional(),
  /** Set if ranks did not exchange in this iteration (local steps): nothing was sent. */
  exchanged: z.literal(false).optional(),
  bytes: z.strictObject({
    /** 4·n: the size of uncompressed f32, in every iteration. */
    dense: count,
    /** The encoded bytes the method produced. */
    payload: count,
    /** Counted at the sockets, framing included. */
    wireSent: count,
    wireReceived: count,
    /** Framing included in wireSent and wireReceived. */
    framingSent: count,
    framingReceived: count,
  }),
  /** What a pipeline stage sent to other stages: bytes as f32, and encoded. */
  activations: z
    .strictObject({
      dense: count,
      payload: count,
      /**
       * Every `inspectEvery` iterations, for activations sent forward: for some sparsities, the
       * mean over rows of the k-th largest magnitude, where k units of a row would be sent.
       */
      thresholds: z
        .array(z.strictObject({ sparsity: z.number(), mean: z.number() }))
        .readonly()
        .optional(),
    })
    .optional(),
  nnzLocal: count.optional(),
  nnzReduced: count.optional(),
  /** nnzLocal / n. */
  density: z.number().optional(),
  /** Thresholds recomputed by a method that reuses them. */
  thresholdRefreshes: count.optional(),
  residualNorm: z.number().optional(),
  /** Absent if nothing is trained. */
  loss: z.number().optional(),
  /** Accuracy on the rank's own batch, 0…1. */
  metric: z.number().optional(),
  lr: z.number(),
  epoch: count,
  method: z.string(),
  collective: z.string(),
});
export type IterationRecord = z.infer<typeof iterationRecordSchema>;

export const iterationKind = recordKind({
  schema: iterationRecordSchema,
  repetition: { by: 'rank and iteration' },
  thinning: 'iterations',
  printed: unprinted,
});
