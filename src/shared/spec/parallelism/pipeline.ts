/**
 * A model that is split into stages, beside any kind of parallelism: ranks with the same layers
 * exchange (docs/decisions/055-pipelines.md).
 */
import { z } from 'zod';
import '../../checks/spec-key.ts';

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
