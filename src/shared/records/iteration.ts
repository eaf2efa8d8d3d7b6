/**
 * One record per rank and iteration. A new field is a definition in one of the lists here: the
 * schema, the CSV export and the page's charts are made from them.
 */
import { z } from 'zod';
import { PHASES, PIPELINE_PHASES, type Phase, type PipelinePhase } from './phases.ts';
import { count, time } from './fields.ts';
import { schemasOf, type IterationFields } from './iteration-field.ts';
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

/** Times of the iteration as a whole. */
const TIMES = {
  at: { schema: z.number(), column: 'at_ms', chart: 'mean' },
  /** The iteration's wall time; the phases add up to it. */
  wall: { schema: time, column: 'wall_ms', chart: 'band' },
} as const satisfies IterationFields;

const CIRCUMSTANCES = {
  /** The part of `wait` spent on each awaited rank, by rank. */
  waitedFor: { schema: z.record(z.string(), time).optional(), column: 'waited_for' },
  /**
   * Communication hidden under compute: compressing and summing while bytes were in
   * flight, and all parts of an exchange that ran while the trainer computed (`overlap`,
   * `doubleBuffer`). It is in no phase.
   */
  overlapped: { schema: time, column: 'overlapped_ms', chart: 'mean' },
  /**
   * Iterations by which the applied gradient is older than the weights (`doubleBuffer`), or
   * iterations of the slowest rank whose pushes the weights lacked (asynchronous training);
   * default: 0.
   */
  staleness: {
    schema: count.optional(),
    column: 'staleness',
    isLater: true,
    absent: 0,
  },
  /** The trainer thread that computed the gradient, if the rank has several. */
  trainerThread: { schema: count.optional(), column: 'trainer_thread', isLater: true },
  /** Set if the rank also sent all of its residual (`parallelism.drainEvery`). */
  drained: {
    schema: z.literal(true).optional(),
    column: 'drained',
    isLater: true,
    absent: 0,
  },
  /** Set if ranks did not exchange in this iteration (local steps): nothing was sent. */
  exchanged: {
    schema: z.literal(false).optional(),
    column: 'exchanged',
    isLater: true,
    absent: 1,
  },
} as const satisfies IterationFields;

const BYTES = {
  /**
   * 4·n: the size of uncompressed f32, in every iteration; where models of a program step in turns, n
   * are the elements of those that step.
   */
  dense: { schema: count, column: 'dense_bytes', chart: 'mean' },
  /** The encoded bytes the method produced; absent if a hook of the program's own sends what nobody here sees. */
  payload: { schema: count.optional(), column: 'payload_bytes', chart: 'mean' },
  /**
   * Counted at the sockets, framing included; absent, as all below, of a program that communicates
   * by itself.
   */
  wireSent: { schema: count.optional(), column: 'wire_sent_bytes', chart: 'mean' },
  /** The same for what was received. */
  wireReceived: {
    schema: count.optional(),
    column: 'wire_received_bytes',
    chart: 'mean',
  },
  /** The part of `wireSent` that is framing. */
  framingSent: { schema: count.optional(), column: 'framing_sent_bytes' },
  /** The part of `wireReceived` that is framing. */
  framingReceived: { schema: count.optional(), column: 'framing_received_bytes' },
} as const satisfies IterationFields;

/** Activations that a pipeline stage sent to other stages: bytes as f32, and encoded. */
const ACTIVATIONS = {
  /** Bytes of these activations as uncompressed f32. */
  dense: { schema: count, column: 'activations_dense_bytes' },
  /** Bytes of these activations as encoded. */
  payload: { schema: count, column: 'activations_payload_bytes' },
  /**
   * Every `inspectEvery` iterations, for activations sent forward: for some sparsities, the
   * mean over rows of the k-th largest magnitude, where k units of a row would be sent.
   */
  thresholds: {
    schema: z
      .array(
        z.strictObject({
          /** Share of a row's units that would be left out. */
          sparsity: z.number(),
          /** The k-th largest magnitude, on average over rows. */
          mean: z.number(),
        }),
      )
      .readonly()
      .optional(),
    column: 'activations_thresholds',
    isLater: true,
  },
} as const satisfies IterationFields;

const RESULTS = {
  /** Entries that this rank sent, k; absent if the method does not select. */
  nnzLocal: { schema: count.optional(), column: 'nnz_local', chart: 'mean' },
  /** Entries of the reduced result, K, if observed. */
  nnzReduced: { schema: count.optional(), column: 'nnz_reduced', chart: 'mean' },
  /** nnzLocal / n. */
  density: { schema: z.number().optional(), column: 'density', chart: 'mean' },
  /** Thresholds recomputed by a method that reuses them. */
  thresholdRefreshes: {
    schema: count.optional(),
    column: 'threshold_refreshes',
    isLater: true,
  },
  /** Norm of this rank's residual, if the method keeps one. */
  residualNorm: {
    schema: z.number().optional(),
    column: 'residual_norm',
    chart: 'mean',
  },
  /**
   * The factor by which clipping scaled this rank's gradient before its residual was added
   * (`optimizer.clipAt: rank`); absent if it did not.
   */
  clipped: {
    schema: z.number().optional(),
    column: 'clipped',
    isLater: true,
    absent: 1,
  },
  /** Absent if nothing is trained. */
  loss: { schema: z.number().optional(), column: 'loss', chart: 'band' },
  /** The model's metric on the rank's own batch; accuracy is 0…1. */
  metric: { schema: z.number().optional(), column: 'metric', chart: 'band' },
  lr: { schema: z.number(), column: 'lr' },
  epoch: { schema: count, column: 'epoch' },
  method: { schema: z.string(), column: 'method' },
  collective: { schema: z.string(), column: 'collective' },
} as const satisfies IterationFields;

export const iterationRecordSchema = z.strictObject({
  type: z.literal('iteration'),
  rank: count,
  iteration: count,
  ...schemasOf(TIMES),
  /** Milliseconds of each phase; they add up to `wall`. */
  phases: phasesSchema,
  ...schemasOf(CIRCUMSTANCES),
  /** Bytes of the iteration's exchange. */
  bytes: z.strictObject(schemasOf(BYTES)),
  /** Activations that a stage of a pipeline sent to other stages. */
  activations: z.strictObject(schemasOf(ACTIVATIONS)).optional(),
  ...schemasOf(RESULTS),
});
export type IterationRecord = z.infer<typeof iterationRecordSchema>;

/** Fields by the group that they are in; the record itself has those of the group ``. */
export const ITERATION_FIELDS = [
  { group: '', fields: TIMES },
  {
    group: 'phases',
    fields: Object.fromEntries(
      PHASES.map((phase) => [phase, { schema: time, column: `${phase}_ms` }]),
    ) as IterationFields,
  },
  { group: '', fields: CIRCUMSTANCES },
  { group: 'bytes', fields: BYTES },
  { group: 'activations', fields: ACTIVATIONS },
  { group: '', fields: RESULTS },
] as const satisfies readonly {
  readonly group: string;
  readonly fields: IterationFields;
}[];

/** Definitions of fields that the page may show in charts. */
export const CHART_FIELDS = { ...TIMES, ...CIRCUMSTANCES, ...BYTES, ...RESULTS };

export const iterationKind = recordKind({
  schema: iterationRecordSchema,
  repetition: { by: 'rank and iteration' },
  thinning: 'iterations',
  printed: unprinted,
});
