/**
 * A model that is split into stages, beside any kind of parallelism: ranks with the same layers
 * exchange (docs/decisions/055-pipelines.md).
 */
import { z } from 'zod';
import '../../checks/spec-key.ts';
import { keyBeside, SYNTHETIC, type Misfit, type SharedWork } from './kind.ts';

const PIPELINE = 'parallelism.pipeline';
/** The place of what is wrong with where a model is split. */
export const SPLIT = `${PIPELINE}.splitAfter`;

export const pipelineSchema = z
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
  );

/** The part of a spec that says how ranks share the work. */
interface Shared {
  readonly parallelism?:
    { readonly pipeline?: z.infer<typeof pipelineSchema> } | undefined;
}

export interface Pipeline {
  readonly splitAfter: readonly string[];
  /** Micro-batches of a batch. */
  readonly microBatches: number;
  /** Stages of a model. */
  readonly stages: number;
}

const MICRO_BATCHES = 4;

/** Settings of the pipeline; undefined if every rank has the whole model. */
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

/**
 * The settings that do not fit a pipeline, the first to blame first, as far as they do not depend
 * on the model. None without a pipeline.
 */
export function pipelineMisfits(spec: SharedWork & Shared): readonly Misfit[] {
  const pipeline = pipelineOf(spec);
  if (pipeline === undefined) return [];
  const { optimizer, workload, world } = spec;
  const { microBatches, splitAfter, stages } = pipeline;
  const twice = splitAfter.find((name, i) => splitAfter.indexOf(name) !== i);
  const besides = keyBeside(spec);
  const found: (Misfit | false)[] = [
    twice !== undefined && {
      place: SPLIT,
      message: `"${twice}" is listed twice`,
      next: 'Name each layer once.',
    },
    world.ranks % stages !== 0 && {
      place: 'world.ranks',
      message: `${world.ranks} ranks cannot be divided into pipelines of ${stages} stages`,
      next: `Use a multiple of ${stages}: each stage of each pipeline is a rank.`,
    },
    workload.batchPerRank % microBatches !== 0 && {
      place: `${PIPELINE}.microBatches`,
      message: `a batch of ${workload.batchPerRank} cannot be split into ${microBatches} equal micro-batches`,
      next: 'Change microBatches, or workload.batchPerRank.',
    },
    besides !== undefined && {
      place: besides,
      message:
        'stages exchange activations while they compute, so no gradient can be exchanged then',
      next: `Remove ${besides} or the pipeline.`,
    },
    optimizer.clipNorm !== undefined && {
      place: 'optimizer.clipNorm',
      message: 'the norm is over all layers, but a stage has only its own',
      next: 'Remove clipNorm or the pipeline.',
    },
    optimizer.fullGradientEvery !== undefined && {
      place: 'optimizer.fullGradientEvery',
      message: 'stages pass on batches, but not a gradient of all samples',
      next: 'Remove fullGradientEvery or the pipeline.',
    },
    workload.model === SYNTHETIC && {
      place: 'workload.model',
      message: 'a synthetic gradient has no layers to split',
      next: 'Train a model.',
    },
  ];
  return found.filter((one) => one !== false);
}
