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
   * Communication hidden under computation: compressing and summing while bytes were in
   * flight, and all of an exchange that passed while the trainer computed (`overlap`,
   * `doubleBuffer`), which is in no phase.
   */
  overlapped: time,
  /**
   * Iterations by which what was applied is older than the weights (`doubleBuffer`), or whose
   * pushes of the slowest rank its weights lacked (asynchronous training); default: 0.
   */
  staleness: count.optional(),
  /** Which of the rank's trainer threads has computed the gradient, where it has several. */
  trainerThread: count.optional(),
  /** Said where the rank sent all of its residual along (`parallelism.drainEvery`). */
  drained: z.literal(true).optional(),
  /** Said where ranks did not exchange in this iteration (local steps): nothing was sent. */
  exchanged: z.literal(false).optional(),
  bytes: z.strictObject({
    /** 4·n: what uncompressed f32 would have been, in every iteration. */
    dense: count,
    /** The encoded bytes the method produced. */
    payload: count,
    /** Counted at the sockets, framing included. */
    wireSent: count,
    wireReceived: count,
    /** The framing's part of wireSent and wireReceived. */
    framingSent: count,
    framingReceived: count,
  }),
  /** Of a stage in a pipeline, what it sent to the others: as f32, and encoded. */
  activations: z
    .strictObject({
      dense: count,
      payload: count,
      /**
       * Every `inspectEvery` iterations, of what it sent forward: for some sparsities the mean
       * over rows of the k-th largest magnitude, where k units of a row would be sent.
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
  /** Thresholds that a method with living ones has recomputed. */
  thresholdRefreshes: count.optional(),
  residualNorm: z.number().optional(),
  /** Absent where nothing is trained. */
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
  parameters: z.record(z.string(), z.json()),
  collective: z.string(),
  bucketBytes: count,
  layers: z
    .array(
      z.strictObject({
        match: z.string(),
        method: z.string(),
        parameters: z.record(z.string(), z.json()),
      }),
    )
    .readonly()
    .optional(),
  quantizeSums: quantizationSchema.optional(),
  servers: count.optional(),
  activations: activationPlanSchema.optional(),
});

/** What became of the state that methods and collectives keep beside the residual. */
const stateOutcomeSchema = z.enum(['none', 'kept', 'partly', 'dropped']);
export type StateOutcome = z.infer<typeof stateOutcomeSchema>;

/** Every rank moved to the next exchange plan before this iteration. Made by rank 0. */
export const switchRecordSchema = z.strictObject({
  type: z.literal('switch'),
  at: z.number(),
  /** The first iteration under the new plan. */
  fence: count,
  epoch: count,
  from: planSchema,
  to: planSchema,
  /** What became of the residual. */
  residual: z.enum(['none', 'kept', 'flushed', 'dropped']),
  /** Missing in records of earlier versions, which dropped it. */
  state: stateOutcomeSchema.optional(),
  /** Ids of the methods and collectives of which some state was dropped. */
  stateDropped: z.array(z.string()).readonly().optional(),
  /** Whether the weights were averaged because the old method's replicas drift. */
  resynchronized: z.boolean(),
});
export type SwitchRecord = z.infer<typeof switchRecordSchema>;

export const noticeRecordSchema = z.strictObject({
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

const errorDataSchema = z.strictObject({
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
    /** What computes there: a GPU's name, or that it is the CPU. */
    device: z.string().optional(),
  }),
);
/**
 * A line that a rank's process printed: a library's warning, the stack of a crash. Made by
 * the supervisor, which reads it: `at` is that moment.
 */
export const logRecordSchema = z.strictObject({
  type: z.literal('log'),
  at: z.number(),
  rank: count,
  stream: z.enum(['stdout', 'stderr']),
  /** Where the line says so. */
  level: z.enum(['warning', 'error']).optional(),
  /** The one that the rank had under way, as far as was known here. */
  iteration: count.optional(),
  /** Without control characters. */
  text: z.string(),
  /** Characters that it had behind these. */
  cut: count.optional(),
  /** Lines of this rank before it that were left out: it printed too much. */
  dropped: count.optional(),
});
export type LogRecord = z.infer<typeof logRecordSchema>;

/**
 * A run waits for a job of its cluster's scheduler. Made by the supervisor when the job is
 * asked for, and again when what is known of it changes.
 */
export const queuedRecordSchema = z.strictObject({
  type: z.literal('queued'),
  at: z.number(),
  node: z.string(),
  /** The scheduler's number for it. */
  job: z.string(),
  /** Why it waits, in the scheduler's words. */
  reason: z.string().optional(),
  /** When the scheduler expects it to start. */
  expected: z.number().optional(),
});
export type QueuedRecord = z.infer<typeof queuedRecordSchema>;

/** The scheduler has started the job: ranks can be started on its nodes. */
export const allocatedRecordSchema = z.strictObject({
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
  /** Bit/s of a rank's link, each way. */
  bandwidth: z.number().positive(),
  /** One way. */
  latency: time,
};

/** The workers are up and the first iteration begins. Made by the supervisor. */
export const startedRecordSchema = z.strictObject({
  type: z.literal('started'),
  at: z.number(),
  ranks: count,
  backend: z.string(),
  /** Why `auto` did not take a GPU, where that is so. */
  why: z.string().optional(),
  /** Gradient elements. */
  parameters: count,
  /** What the model is measured by beside its loss; accuracy where it is missing. */
  metricKind: metricKindSchema.optional(),
  plan: planSchema,
  /** The network between the ranks, where it was emulated. */
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
export const checkpointRecordSchema = z.strictObject({
  type: z.literal('checkpoint'),
  at: z.number(),
  node: z.string(),
  /** The iteration that comes next. */
  iteration: count,
  /** Of all of the node's ranks. */
  bytes: count,
  /** How long the slowest rank did nothing else. */
  wall: time,
});
export type CheckpointRecord = z.infer<typeof checkpointRecordSchema>;

/** The ranks of a node are gone; the run is to go on from a checkpoint. */
export const interruptedRecordSchema = z.strictObject({
  type: z.literal('interrupted'),
  at: z.number(),
  node: z.string(),
  error: errorDataSchema,
});
export type InterruptedRecord = z.infer<typeof interruptedRecordSchema>;

/**
 * The ranks of a node go on. What comes until the last iteration that is recorded is
 * repeated, and not recorded again.
 */
export const restartedRecordSchema = z.strictObject({
  type: z.literal('restarted'),
  at: z.number(),
  node: z.string(),
  /** The first iteration that they do. */
  iteration: count,
  processes: processesSchema,
});
export type RestartedRecord = z.infer<typeof restartedRecordSchema>;

/**
 * Records are missing before this: the node's journal had reached its bound while no app
 * stored them, and details were left out. Made by the store, which knows what it misses.
 */
export const thinnedRecordSchema = z.strictObject({
  type: z.literal('thinned'),
  /** When they were left out. */
  at: z.number(),
  node: z.string(),
  /** How many the store misses. */
  records: count,
  /**
   * Of the iterations from ≤ i < to at least every `every`-th is there, of all of the node's
   * ranks. Default: no iterations are missing.
   */
  iterations: z.strictObject({ from: count, to: count, every: count }).optional(),
  /** The journal's bound. */
  limitBytes: count,
});
export type ThinnedRecord = z.infer<typeof thinnedRecordSchema>;

/** The last record of a run that ended as asked: all iterations done, or stopped. */
export const doneRecordSchema = z.strictObject({
  type: z.literal('done'),
  at: z.number(),
  reason: z.enum(['completed', 'stopped']),
  iterations: count,
  /** Absent where nothing is trained. */
  loss: z.number().optional(),
  /** Of the final model. */
  metric: z.number().optional(),
  metricKind: metricKindSchema.optional(),
  /** Where replicas drifted: of each, before their weights were averaged into that model. */
  replicaMetric: z.number().optional(),
  /** Whether all ranks ended with bit-identical weights. */
  consistent: z.boolean(),
  /** Hex digest of the weights of rank 0. */
  weights: z.string(),
  /** Under a method whose replicas drift: the drift before the closing average. */
  divergence: z.number().optional(),
});
export type DoneRecord = z.infer<typeof doneRecordSchema>;

/** The last record of a run that ended otherwise. */
export const failedRecordSchema = z.strictObject({
  type: z.literal('failed'),
  at: z.number(),
  error: errorDataSchema,
});
export type FailedRecord = z.infer<typeof failedRecordSchema>;

/**
 * The last record of a node whose ranks have all finished, where rank 0 is on another: the
 * run's result is in that one's journal.
 */
export const finishedRecordSchema = z.strictObject({
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

/** Everything that a run records besides its iterations and what its ranks print. */
export type RunEvent = Exclude<RunRecord, { type: 'iteration' | 'log' }>;

/**
 * A record with its place in the run's journal. Sequences start at 1 and have no gap but
 * those that are declared: where details were left out, to keep the journal's bound.
 */
export interface JournalEntry {
  readonly sequence: number;
  /** The entry before it, where those in between were left out; default: sequence − 1. */
  readonly follows?: number | undefined;
  /** Of the first entry behind all that was left out: what that was. */
  readonly thinned?: JournalThinning | undefined;
  readonly record: RunRecord;
}

/** What was left out of a journal, altogether. */
export interface JournalThinning extends Pick<ThinnedRecord, 'at' | 'limitBytes'> {
  /** Of iterations below `to` at least every `every`-th is there, of all ranks alike. */
  readonly iterations: { readonly to: number; readonly every: number };
}

/**
 * How many entries were left out between the entry with sequence `last` and this one;
 * undefined: it cannot come next, for some are missing of which the journal does not say so.
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
