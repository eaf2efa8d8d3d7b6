/**
 * One record per rank and iteration. A new field is a definition in one of the lists here: the
 * schema, the CSV export and the page's charts are made from them.
 */
import { z } from 'zod';
import { PHASES, PIPELINE_PHASES, type Phase, type PipelinePhase } from './phases.ts';
import { count, time } from './fields.ts';
import { schemasOf, type IterationFields } from './iteration-field.ts';
import { recordKind, unprinted } from './record-kind.ts';

const phaseField = <S extends z.ZodType>(phase: Phase, schema: S) =>
  ({ schema, unit: 'ms', phase, place: 0, chart: 'mean' }) as const;

const phaseFields = <P extends Phase, S extends z.ZodType>(
  names: readonly P[],
  schema: S,
): Record<P, ReturnType<typeof phaseField<S>>> =>
  Object.fromEntries(
    names.map((phase) => [phase, phaseField(phase, schema)]),
  ) as ReturnType<typeof phaseFields<P, S>>;

/** Milliseconds of each phase; those of a pipeline are absent elsewhere. */
const PHASE_TIMES = {
  ...(phaseFields(PHASES, time) as Record<
    Exclude<Phase, PipelinePhase>,
    ReturnType<typeof phaseField<typeof time>>
  >),
  ...phaseFields(PIPELINE_PHASES, time.optional()),
};

/** Times of the iteration as a whole. */
const TIMES = {
  at: {
    schema: z.number(),
    unit: 'moment',
    place: 0,
    chart: 'mean',
  },
  /** The iteration's wall time; the phases add up to it. */
  wall: {
    schema: time,
    unit: 'ms',
    phase: 'all',
    place: 0,
    chart: 'band',
  },
} as const satisfies IterationFields;

const CIRCUMSTANCES = {
  /** The part of `wait` spent on each awaited rank, by rank. */
  waitedFor: {
    schema: z.record(z.string(), time).optional(),
    unit: 'ms',
    phase: 'wait',
    place: 0,
  },
  /**
   * Communication hidden under compute: compressing and summing while bytes were in
   * flight, and all parts of an exchange that ran while the trainer computed (`overlap`,
   * `doubleBuffer`). It is in no phase.
   */
  overlapped: {
    schema: time,
    title: 'hidden behind compute',
    unit: 'ms',
    phase: 'none',
    place: 0,
    chart: 'mean',
  },
  /**
   * Iterations by which the applied gradient is older than the weights (`doubleBuffer`), or
   * iterations of the slowest rank whose pushes the weights lacked (asynchronous training);
   * default: 0.
   */
  staleness: {
    schema: count.optional(),
    unit: 'number',
    place: 1,
    absent: 0,
  },
  /** The trainer thread that computed the gradient, if the rank has several. */
  trainerThread: {
    schema: count.optional(),
    unit: 'none',
    place: 1,
  },
  /** Set if the rank also sent all of its residual (`parallelism.drainEvery`). */
  drained: {
    schema: z.literal(true).optional(),
    unit: 'none',
    place: 1,
    absent: 0,
  },
  /** Set if ranks did not exchange in this iteration (local steps): nothing was sent. */
  exchanged: {
    schema: z.literal(false).optional(),
    unit: 'none',
    place: 1,
    absent: 1,
  },
} as const satisfies IterationFields;

const BYTES = {
  /**
   * 4·n: the size of uncompressed f32, in every iteration; where models of a program step in turns, n
   * are the elements of those that step.
   */
  dense: {
    schema: count,
    title: 'dense bytes',
    unit: 'bytes',
    place: 0,
    chart: 'mean',
  },
  /** The encoded bytes the method produced; absent if a hook of the program's own sends what nobody here sees. */
  payload: {
    schema: count.optional(),
    title: 'payload bytes',
    unit: 'bytes',
    place: 0,
    chart: 'mean',
  },
  /**
   * Counted at the sockets, framing included; absent, as all below, of a program that communicates
   * by itself.
   */
  wireSent: {
    schema: count.optional(),
    title: 'wire bytes sent',
    unit: 'bytes',
    place: 0,
    chart: 'mean',
  },
  /** The same for what was received. */
  wireReceived: {
    schema: count.optional(),
    unit: 'bytes',
    place: 0,
    chart: 'mean',
  },
  /** The part of `wireSent` that is framing. */
  framingSent: {
    schema: count.optional(),
    unit: 'bytes',
    place: 0,
  },
  /** The part of `wireReceived` that is framing. */
  framingReceived: {
    schema: count.optional(),
    unit: 'bytes',
    place: 0,
  },
} as const satisfies IterationFields;

/** Activations that a pipeline stage sent to other stages: bytes as f32, and encoded. */
const ACTIVATIONS = {
  /** Bytes of these activations as uncompressed f32. */
  dense: {
    schema: count,
    unit: 'bytes',
    place: 0,
  },
  /** Bytes of these activations as encoded. */
  payload: {
    schema: count,
    unit: 'bytes',
    place: 0,
  },
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
    unit: 'none',
    place: 1,
  },
} as const satisfies IterationFields;

const RESULTS = {
  /** Entries that this rank sent, k; absent if the method does not select. */
  nnzLocal: {
    schema: count.optional(),
    unit: 'number',
    place: 0,
    chart: 'mean',
  },
  /** Entries of the reduced result, K, if observed. */
  nnzReduced: {
    schema: count.optional(),
    unit: 'number',
    place: 0,
    chart: 'mean',
  },
  /** nnzLocal / n. */
  density: {
    schema: z.number().optional(),
    unit: 'share',
    place: 0,
    chart: 'mean',
  },
  /** Thresholds recomputed by a method that reuses them. */
  thresholdRefreshes: {
    schema: count.optional(),
    unit: 'number',
    place: 1,
  },
  /** Norm of this rank's residual, if the method keeps one. */
  residualNorm: {
    schema: z.number().optional(),
    unit: 'number',
    place: 0,
    chart: 'mean',
  },
  /**
   * The factor by which clipping scaled this rank's gradient before its residual was added
   * (`optimizer.clipAt: rank`); absent if it did not.
   */
  clipped: {
    schema: z.number().optional(),
    unit: 'number',
    place: 1,
    absent: 1,
  },
  /** Absent if nothing is trained. */
  loss: {
    schema: z.number().optional(),
    unit: 'number',
    place: 0,
    chart: 'band',
  },
  /** The model's metric on the rank's own batch; accuracy is 0…1. */
  metric: {
    schema: z.number().optional(),
    unit: 'metric',
    place: 0,
    chart: 'band',
  },
  lr: {
    schema: z.number(),
    unit: 'number',
    place: 0,
  },
  epoch: { schema: count, unit: 'none', place: 0 },
  method: {
    schema: z.string(),
    unit: 'none',
    place: 0,
  },
  collective: {
    schema: z.string(),
    unit: 'none',
    place: 0,
  },
} as const satisfies IterationFields;

export const iterationRecordSchema = z.strictObject({
  type: z.literal('iteration'),
  rank: count,
  iteration: count,
  ...schemasOf(TIMES),
  /** Milliseconds of each phase; they add up to `wall`. */
  phases: z.strictObject(schemasOf(PHASE_TIMES)),
  ...schemasOf(CIRCUMSTANCES),
  /** Bytes of the iteration's exchange. */
  bytes: z.strictObject(schemasOf(BYTES)),
  /** Activations that a stage of a pipeline sent to other stages. */
  activations: z.strictObject(schemasOf(ACTIVATIONS)).optional(),
  ...schemasOf(RESULTS),
});
export type IterationRecord = z.infer<typeof iterationRecordSchema>;

/**
 * Fields by the group that they are in; the record itself has those of the group ``.
 */
export const ITERATION_FIELDS = [
  { group: '', fields: TIMES },
  { group: 'phases', fields: PHASE_TIMES },
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
  tables: [
    {
      id: 'iterations',
      title: 'Iterations, a row per rank and iteration',
      columns: 'parts',
    },
  ],
});
