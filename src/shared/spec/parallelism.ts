/**
 * Ways in which ranks share the work of training: `parallelism` in a spec. `synchronous`: all
 * ranks exchange in every iteration. `local-steps`: each takes `every` local steps, then they
 * exchange how far they have moved (docs/decisions/048-local-steps.md). `asynchronous`: each
 * pushes its gradients to servers and pulls weights from them, at most `staleness` iterations
 * ahead of the slowest (docs/decisions/052-asynchronous-servers.md), and may compute several
 * gradients at the same time (docs/decisions/053-trainer-threads.md). With `pipeline` the
 * model is split as well, and ranks with the same layers exchange
 * (docs/decisions/055-pipelines.md).
 */
import { z } from 'zod';
import './spec-key.ts';

export const PARALLELISM_KINDS = [
  'synchronous',
  'local-steps',
  'asynchronous',
] as const;

export const parallelismSchema = z.strictObject({
  kind: z
    .enum(PARALLELISM_KINDS)
    .default('synchronous')
    .describe(
      'synchronous: exchange in every iteration; local-steps: exchange every few iterations; ' +
        'asynchronous: each rank on its own with parameter servers',
    )
    .meta({ title: 'Kind' }),
  every: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('Local steps between exchanges; default: 16')
    .meta({ title: 'Exchange every' }),
  outer: z
    .strictObject({
      lr: z
        .number()
        .positive()
        .max(100)
        .optional()
        .describe(
          'Learning rate of the outer step, which all ranks take together; default: 0.7',
        )
        .meta({ title: 'Outer learning rate' }),
      momentum: z
        .number()
        .min(0)
        .lt(1)
        .optional()
        .describe('Momentum of the outer step; default: 0.9')
        .meta({ title: 'Outer momentum' }),
      nesterov: z.boolean().optional().describe('Use Nesterov momentum; default: true'),
    })
    .optional()
    .describe('Optimiser applied to the average change of the local steps'),
  staleness: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe(
      'For asynchronous: iterations a rank may be ahead of the slowest; default: 4',
    )
    .meta({ title: 'Staleness' }),
  servers: z
    .int()
    .min(1)
    .max(1024)
    .optional()
    .describe('For asynchronous: number of ranks that are also servers; default: 1')
    .meta({ title: 'Servers' }),
  trainerThreads: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe(
      'For asynchronous: threads of a rank that compute gradients in parallel and share its ' +
        'residual; default: 1',
    )
    .meta({ title: 'Trainer threads' }),
  drainEvery: z
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Average number of iterations after which a rank sends all of its residual, for ' +
        'asynchronous; default: never',
    )
    .meta({ title: 'Drain every' }),
  pipeline: z
    .strictObject({
      splitAfter: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(1023)
        .describe('Layers after which the model is split, such as ["layer1"]')
        .meta({ title: 'Split after layers', folded: true }),
      microBatches: z
        .int()
        .min(1)
        .max(1024)
        .optional()
        .describe('Micro-batches into which a batch is split; default: 4')
        .meta({ title: 'Micro-batches', folded: true }),
    })
    .optional()
    .describe(
      'Split the model into stages, one rank each; the number of ranks is stages × pipelines',
    ),
});
export type ParallelismSpec = z.infer<typeof parallelismSchema>;

/** The part of a spec that says how ranks share the work. */
interface Shared {
  readonly parallelism?: ParallelismSpec | undefined;
}

export interface OuterSettings {
  readonly lr: number;
  readonly momentum: number;
  readonly nesterov: boolean;
}

export interface LocalStepsSettings {
  /** Steps of a rank from one exchange to the next. */
  readonly every: number;
  readonly outer: OuterSettings;
}

const EVERY = 16;
/** The outer optimizer's defaults, as DiLoCo has them (Douillard et al., 2023). */
const OUTER: OuterSettings = { lr: 0.7, momentum: 0.9, nesterov: true };

/** Undefined if ranks exchange in every iteration. */
export function localStepsOf({ parallelism }: Shared): LocalStepsSettings | undefined {
  if (parallelism?.kind !== 'local-steps') return undefined;
  const { every = EVERY, outer = {} } = parallelism;
  const { lr = OUTER.lr, momentum = OUTER.momentum, nesterov = OUTER.nesterov } = outer;
  return { every, outer: { lr, momentum, nesterov } };
}

export interface Pipeline {
  readonly splitAfter: readonly string[];
  /** Micro-batches of a batch. */
  readonly microBatches: number;
  /** Stages of a model. */
  readonly stages: number;
}

const MICRO_BATCHES = 4;

/** Undefined if every rank has the whole model. */
export function pipelineOf({ parallelism }: Shared): Pipeline | undefined {
  const { pipeline } = parallelism ?? {};
  if (pipeline === undefined) return undefined;
  const { microBatches = MICRO_BATCHES, splitAfter } = pipeline;
  return { splitAfter, microBatches, stages: splitAfter.length + 1 };
}

/** Ranks with the same layers, which exchange gradients: all, or one of each pipeline. */
export const replicaCount = (ranks: number, spec: Shared): number =>
  ranks / (pipelineOf(spec)?.stages ?? 1);

export interface PipelinePosition extends Pipeline {
  readonly stage: number;
  readonly replica: number;
}

type Ranked = Shared & { readonly world: { readonly ranks: number } };

/**
 * Returns the stage and the pipeline that a rank trains: the stages of a pipeline are
 * consecutive ranks. Undefined if every rank has the whole model.
 */
export function pipelinePosition(
  spec: Shared,
  rank: number,
): PipelinePosition | undefined {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return undefined;
  const { stages } = pipeline;
  return { ...pipeline, stage: rank % stages, replica: Math.floor(rank / stages) };
}

/** Ranks of the same stage as this one; undefined if every rank has the whole model. */
export function groupOf(spec: Ranked, rank: number): readonly number[] | undefined {
  const position = pipelinePosition(spec, rank);
  if (position === undefined) return undefined;
  return Array.from(
    { length: replicaCount(spec.world.ranks, spec) },
    (_, replica) => replica * position.stages + position.stage,
  );
}

export interface StalenessSettings {
  /** s: iterations that a rank may be ahead of the slowest. */
  readonly staleness: number;
  /** S: ranks that each hold a part of the weights. */
  readonly servers: number;
  /** Trainer threads per rank, at most s + 1. */
  readonly trainerThreads: number;
  /** Average iterations between drains of a rank's residual; default: never. */
  readonly drainEvery?: number | undefined;
}

const STALENESS = 4;
const SERVERS = 1;
const TRAINER_THREADS = 1;

/** Undefined if ranks wait for each other. */
export function asynchronousOf({ parallelism }: Shared): StalenessSettings | undefined {
  if (parallelism?.kind !== 'asynchronous') return undefined;
  const { drainEvery, servers = SERVERS, staleness = STALENESS } = parallelism;
  const { trainerThreads = TRAINER_THREADS } = parallelism;
  return {
    servers,
    staleness,
    trainerThreads,
    ...(drainEvery === undefined ? {} : { drainEvery }),
  };
}

/**
 * The number of the first exchange at or after the start of an iteration, counted from 0: what
 * the engine and the methods call an iteration is an exchange.
 */
export const exchangeFrom = (iteration: number, spec: Shared): number =>
  Math.ceil(iteration / (localStepsOf(spec)?.every ?? 1));
