/**
 * The checkpoint of one rank: with it a new process resumes between two iterations with the
 * same bits (on `wasm`; a GPU may round differently). The position in the data is a function
 * of seed, rank and iteration; everything else is in here.
 */
import path from 'node:path';
import { z } from 'zod';
import { failure } from '../../shared/errors/errors.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';
import type { EngineState } from '../exchange/engine-state.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint-file.ts';

const VERSION = 1;

export interface RankCheckpoint {
  /** The next iteration. */
  readonly iteration: number;
  /** Weights, flat, in the order of the trainer's tensors. */
  readonly weights: Float32Array;
  /** The optimiser's state. */
  readonly state: Float32Array;
  /** Vectors of the form of parallelism, each of the weights' length. */
  readonly steps: readonly Float32Array[];
  readonly engine: EngineState;
  /** The residual of gradients of activations, between stages of a pipeline. */
  readonly passages: readonly Float32Array[];
  /** The last evaluated accuracy on the test set. */
  readonly metric: number | undefined;
}

/** Owner of a checkpoint; a checkpoint of another rank is refused. */
export interface CheckpointOwner {
  readonly run: string;
  readonly rank: number;
  readonly world: number;
}

const headerSchema = z.object({
  version: z.literal(VERSION),
  run: z.string(),
  rank: z.number(),
  world: z.number(),
  iteration: z.number(),
  metric: z.number().optional(),
  buckets: z.number(),
  residual: z.boolean(),
  keptAt: z.number().optional(),
  steps: z.number().default(0),
  passages: z.number().default(0),
  velocities: z.number().default(0),
  engine: z.object({
    schedule: z.unknown(),
    watch: z.unknown(),
    streams: z.unknown(),
  }),
});

/** @param directory the run's checkpoint directory on a node */
export const checkpointFile = (
  directory: string,
  iteration: number,
  rank: number,
): string => path.join(directory, String(iteration), `rank-${rank}.gwc`);

/**
 * @returns bytes of the file
 * @throws GradwireError `CHECKPOINT_WRITE_FAILED`
 */
export async function saveRank(
  file: string,
  { run, rank, world }: CheckpointOwner,
  { iteration, weights, state, steps, engine, passages, metric }: RankCheckpoint,
): Promise<number> {
  const { schedule, watch, streams, buckets, residual, keptAt } = engine;
  const { velocities = [] } = engine;
  const header: z.infer<typeof headerSchema> = {
    version: VERSION,
    run,
    rank,
    world,
    iteration,
    ...(metric === undefined ? {} : { metric }),
    buckets: buckets.length,
    residual: residual !== undefined,
    ...(keptAt === undefined ? {} : { keptAt }),
    steps: steps.length,
    passages: passages.length,
    velocities: velocities.length,
    engine: { schedule, watch, streams },
  };
  const residuals = residual === undefined ? [] : [residual];
  const vectors = [weights, state, ...residuals, ...velocities, ...steps, ...passages];
  const parts = [...vectors.map(bytesOf), ...buckets];
  return await writeCheckpoint(file, { header, parts });
}

/** @throws GradwireError `CHECKPOINT_INVALID` */
export async function loadRank(
  file: string,
  owner: CheckpointOwner,
): Promise<RankCheckpoint> {
  const { header: raw, parts } = await readCheckpoint(file);
  const parsed = headerSchema.safeParse(raw, INTERPRETED);
  const header = parsed.data;
  const { passages = 0, residual: hasResidual = false } = header ?? {};
  const { steps: own = 0, velocities: served = 0 } = header ?? {};
  const vectors = 2 + Number(hasResidual) + served + own + passages;
  if (
    header?.run !== owner.run ||
    header.rank !== owner.rank ||
    header.world !== owner.world ||
    parts.length !== vectors + header.buckets
  ) {
    throw failure('CHECKPOINT_INVALID', `${file} belongs to another run or version`, {
      next: 'It is ignored: the run resumes from the previous checkpoint, or from its start.',
    });
  }
  const { schedule, watch, streams } = header.engine as Omit<
    EngineState,
    'buckets' | 'keptAt' | 'residual' | 'velocities'
  >;
  const [weights, state, ...others] = parts.slice(0, vectors).map(floatsOf);
  const residual = header.residual ? others.shift() : undefined;
  const velocities = others.splice(0, header.velocities);
  return {
    iteration: header.iteration,
    weights: weights!,
    state: state!,
    steps: others.slice(0, own),
    passages: others.slice(own),
    engine: {
      schedule,
      watch,
      streams,
      residual,
      velocities,
      keptAt: header.keptAt,
      buckets: parts.slice(vectors),
    },
    metric: header.metric,
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const floatsOf = ({ buffer, byteLength }: Uint8Array): Float32Array =>
  new Float32Array(buffer, 0, byteLength / Float32Array.BYTES_PER_ELEMENT);
