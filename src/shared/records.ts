/**
 * Records: what a run leaves behind. Workers make them, the supervisor journals them
 * with a sequence number, main stores them and passes them on, the CLI prints them.
 * A quantity that was not observed is absent, never 0. Times are in milliseconds,
 * sizes in bytes, `at` is wall-clock milliseconds since 1970.
 */
import { z } from 'zod';
import { activationPlanSchema } from './activation-plan.ts';
import type { ErrorData } from './errors.ts';
import {
  bucketsRecordSchema,
  comparisonRecordSchema,
  divergenceRecordSchema,
  evaluationRecordSchema,
  similarityRecordSchema,
} from './measure-records.ts';
import { RESIDUAL_UNITS } from './exchange-plan.ts';
import { metricKindSchema } from './metric.ts';
import { PHASES, PIPELINE_PHASES, type Phase, type PipelinePhase } from './phases.ts';
import { quantizationSchema } from './quantization.ts';

const time = z.number().min(0);
const count = z.number().int().min(0);

const phasesSchema = z.strictObject({
  ...(Object.fromEntries(PHASES.map((phase) => [phase, time])) as Record<
    Exclude<Phase, PipelinePhase>,
    typeof time
  >),
  ...(Object.fromEntries(
    PIPELINE_PHASES.map((phase) => [phase, time.optional()]),
  ) as Record<PipelinePhase, z.ZodOptional<typeof time>>),
});

/** One per rank and iteration. */
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

const planSchema = z.strictObject({
  method: z.string(),
  label: z.string().optional(),
  parameters: z.record(z.string(), z.json()),
  collective: z.string(),
  bucketBytes: count,
  layers: z
    .array(
      z.strictObject({
        match: z.string(),
        method: z.string(),
        label: z.string().optional(),
        parameters: z.record(z.string(), z.json()),
      }),
    )
    .readonly()
    .optional(),
  quantizeSums: quantizationSchema.optional(),
  servers: count.optional(),
  activations: activationPlanSchema.optional(),
  residualUnits: z.enum(RESIDUAL_UNITS).optional(),
});

/** What happened to the state that methods and collectives keep besides the residual. */
const stateOutcomeSchema = z.enum(['none', 'kept', 'partly', 'dropped']);
export type StateOutcome = z.infer<typeof stateOutcomeSchema>;

/** Every rank moved to the next exchange plan before this iteration. Made by rank 0. */
const switchRecordSchema = z.strictObject({
  type: z.literal('switch'),
  at: z.number(),
  /** The first iteration under the new plan. */
  fence: count,
  epoch: count,
  from: planSchema,
  to: planSchema,
  /** What happened to the residual. */
  residual: z.enum(['none', 'kept', 'flushed', 'dropped']),
  /** Missing in records of earlier versions, which dropped it. */
  state: stateOutcomeSchema.optional(),
  /** Ids of the methods and collectives that lost some state. */
  stateDropped: z.array(z.string()).readonly().optional(),
  /** Whether the weights were averaged because the old method's replicas drift. */
  resynchronized: z.boolean(),
});
export type SwitchRecord = z.infer<typeof switchRecordSchema>;

const noticeRecordSchema = z.strictObject({
  type: z.literal('notice'),
  at: z.number(),
  level: z.enum(['info', 'warning']),
  rank: count.optional(),
  code: z.string(),
  message: z.string(),
});
/** A notice without the time and the rank of its record. */
export type Notice = Pick<
  z.infer<typeof noticeRecordSchema>,
  'level' | 'code' | 'message'
>;

export const errorDataSchema = z.strictObject({
  code: z.string(),
  kind: z.enum(['input', 'failure']),
  message: z.string(),
  place: z.string().optional(),
  next: z.string().optional(),
  rank: count.optional(),
}) satisfies z.ZodType<ErrorData>;

const processesSchema = z.array(
  z.strictObject({
    rank: count,
    pid: count,
    node: z.string(),
    /** The device that computes: a GPU's name, or the CPU. */
    device: z.string().optional(),
    /** A GPU's PCI bus id, as nvidia-smi prints it: `00000000:3B:00.0`. */
    bus: z.string().optional(),
  }),
);
/**
 * A line that a rank's process printed: a library's warning, the stack of a crash. Made by
 * the supervisor, which reads the line at time `at`.
 */
const logRecordSchema = z.strictObject({
  type: z.literal('log'),
  at: z.number(),
  rank: count,
  stream: z.enum(['stdout', 'stderr']),
  /** Only if the line states it. */
  level: z.enum(['warning', 'error']).optional(),
  /** The rank's current iteration, as far as the supervisor knew. */
  iteration: count.optional(),
  /** Without control characters. */
  text: z.string(),
  /** Characters cut off at its end. */
  cut: count.optional(),
  /** Earlier lines of this rank that were dropped because it printed too much. */
  dropped: count.optional(),
});
export type LogRecord = z.infer<typeof logRecordSchema>;

/**
 * A run waits for a job of its cluster's scheduler. Made by the supervisor when the job is
 * submitted, and again whenever its status changes.
 */
const queuedRecordSchema = z.strictObject({
  type: z.literal('queued'),
  at: z.number(),
  node: z.string(),
  /** The scheduler's job number. */
  job: z.string(),
  /** Why it waits, in the scheduler's words. */
  reason: z.string().optional(),
  /** When the scheduler expects it to start. */
  expected: z.number().optional(),
});
export type QueuedRecord = z.infer<typeof queuedRecordSchema>;

/** The scheduler has started the job: ranks can start on its nodes. */
const allocatedRecordSchema = z.strictObject({
  type: z.literal('allocated'),
  at: z.number(),
  node: z.string(),
  job: z.string(),
  /** Names of the compute nodes, in the order of their ranks. */
  computeNodes: z.array(z.string()).readonly(),
  /** When the scheduler takes them back. */
  until: z.number().optional(),
});
export type AllocatedRecord = z.infer<typeof allocatedRecordSchema>;

const emulatedLink = {
  /** Bit/s of a rank's link in each direction. */
  bandwidth: z.number().positive(),
  /** Milliseconds, one way. */
  latency: time,
};

/** The workers are up and the first iteration starts. Made by the supervisor. */
const startedRecordSchema = z.strictObject({
  type: z.literal('started'),
  at: z.number(),
  ranks: count,
  backend: z.string(),
  /** Why `auto` did not choose a GPU, if it did not. */
  why: z.string().optional(),
  /** Gradient elements. */
  parameters: count,
  /** The model's metric; default: accuracy. */
  metricKind: metricKindSchema.optional(),
  plan: planSchema,
  /** The network between the ranks, if it was emulated. */
  emulated: z
    .strictObject({
      ...emulatedLink,
      /** Links between two nodes, or within one, that differed. */
      pairs: z
        .array(
          z.strictObject({
            between: z.tuple([z.string(), z.string()]).readonly(),
            ...emulatedLink,
          }),
        )
        .readonly()
        .optional(),
    })
    .optional(),
  processes: processesSchema,
});
export type StartedRecord = z.infer<typeof startedRecordSchema>;

/** All ranks of a node have written a checkpoint. Made by its supervisor. */
const checkpointRecordSchema = z.strictObject({
  type: z.literal('checkpoint'),
  at: z.number(),
  node: z.string(),
  /** The next iteration. */
  iteration: count,
  /** Of all the node's ranks. */
  bytes: count,
  /** How long the slowest rank did nothing else. */
  wall: time,
});
export type CheckpointRecord = z.infer<typeof checkpointRecordSchema>;

/** A node has lost its ranks; the run will resume from a checkpoint. */
const interruptedRecordSchema = z.strictObject({
  type: z.literal('interrupted'),
  at: z.number(),
  node: z.string(),
  error: errorDataSchema,
});
export type InterruptedRecord = z.infer<typeof interruptedRecordSchema>;

/**
 * The ranks of a node resume. Iterations that were already recorded are repeated, but not
 * recorded again.
 */
const restartedRecordSchema = z.strictObject({
  type: z.literal('restarted'),
  at: z.number(),
  node: z.string(),
  /** The first iteration that they train. */
  iteration: count,
  processes: processesSchema,
});

/**
 * Records before this one are missing: the node's journal reached its bound while no app stored
 * them, and dropped details. Made by the store, which knows what is missing.
 */
const thinnedRecordSchema = z.strictObject({
  type: z.literal('thinned'),
  /** When they were left out. */
  at: z.number(),
  node: z.string(),
  /** How many records are missing from the store. */
  records: count,
  /**
   * Of the iterations from ≤ i < to, at least every `every`-th is present for all the node's
   * ranks. Default: no iterations are missing.
   */
  iterations: z.strictObject({ from: count, to: count, every: count }).optional(),
  /** The journal's bound. */
  limitBytes: count,
});
export type ThinnedRecord = z.infer<typeof thinnedRecordSchema>;

/** The last record of a run that ended normally: all iterations done, or stopped. */
const doneRecordSchema = z.strictObject({
  type: z.literal('done'),
  at: z.number(),
  reason: z.enum(['completed', 'stopped']),
  iterations: count,
  /** Absent if nothing is trained. */
  loss: z.number().optional(),
  /** Of the final model. */
  metric: z.number().optional(),
  metricKind: metricKindSchema.optional(),
  /** If replicas drifted: of each, before their weights were averaged into that model. */
  replicaMetric: z.number().optional(),
  /** Whether all ranks ended with bit-identical weights. */
  consistent: z.boolean(),
  /** Hex digest of the weights of rank 0. */
  weights: z.string(),
  /** Under a method whose replicas drift: the drift before the final average. */
  divergence: z.number().optional(),
});
export type DoneRecord = z.infer<typeof doneRecordSchema>;

/** The last record of a run that failed. */
const failedRecordSchema = z.strictObject({
  type: z.literal('failed'),
  at: z.number(),
  error: errorDataSchema,
});
export type FailedRecord = z.infer<typeof failedRecordSchema>;

/**
 * The last record of a node without rank 0 whose ranks have all finished. The run's result is
 * in the journal of rank 0's node.
 */
const finishedRecordSchema = z.strictObject({
  type: z.literal('finished'),
  at: z.number(),
  node: z.string(),
});
export type FinishedRecord = z.infer<typeof finishedRecordSchema>;

export const runRecordSchema = z.discriminatedUnion('type', [
  iterationRecordSchema,
  evaluationRecordSchema,
  switchRecordSchema,
  divergenceRecordSchema,
  comparisonRecordSchema,
  similarityRecordSchema,
  bucketsRecordSchema,
  noticeRecordSchema,
  logRecordSchema,
  queuedRecordSchema,
  allocatedRecordSchema,
  startedRecordSchema,
  checkpointRecordSchema,
  interruptedRecordSchema,
  restartedRecordSchema,
  thinnedRecordSchema,
  doneRecordSchema,
  failedRecordSchema,
  finishedRecordSchema,
]);
export type RunRecord = z.infer<typeof runRecordSchema>;

/** All records of a run except its iterations and what its ranks print. */
export type RunEvent = Exclude<RunRecord, { type: 'iteration' | 'log' }>;

/**
 * A record with its place in the run's journal. Sequences start at 1 and have no gaps except
 * declared ones, where details were dropped to keep the journal's bound.
 */
export interface JournalEntry {
  readonly sequence: number;
  /** The entry before it, if those in between were dropped; default: sequence − 1. */
  readonly follows?: number | undefined;
  /** On the first entry after a gap: what was dropped. */
  readonly thinned?: JournalThinning | undefined;
  readonly record: RunRecord;
}

/** Everything that was dropped from a journal. */
export interface JournalThinning extends Pick<ThinnedRecord, 'at' | 'limitBytes'> {
  /** Of iterations below `to`, at least every `every`-th is present for all ranks. */
  readonly iterations: { readonly to: number; readonly every: number };
}

/**
 * How many entries were dropped between the entry with sequence `last` and this one; undefined
 * if entries are missing that the journal did not declare, so that this one cannot come next.
 */
export function leftOutBefore(entry: JournalEntry, last: number): number | undefined {
  const { sequence, follows = sequence - 1 } = entry;
  const fits = Number.isSafeInteger(sequence) && follows <= last && last < sequence;
  return fits ? sequence - last - 1 : undefined;
}

export function endsRun(record: RunRecord): record is DoneRecord | FailedRecord {
  return record.type === 'done' || record.type === 'failed';
}

export type JournalEnding = DoneRecord | FailedRecord | FinishedRecord;

/** Whether it is the last record of its node's journal. */
export function endsJournal(record: RunRecord): record is JournalEnding {
  return endsRun(record) || record.type === 'finished';
}
