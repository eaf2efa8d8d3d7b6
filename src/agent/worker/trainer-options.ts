/** The trainer that a rank's configuration asks for. */
import { asynchronousOf } from '../../shared/spec/parallelism/asynchronous.ts';
import {
  pipelinePosition,
  replicaCount,
} from '../../shared/spec/parallelism/pipeline.ts';
import type { ToWorker } from '../../shared/protocol/worker.ts';
import type { RankOnMachine } from '../gpus/machine-gpus.ts';
import type { TrainerOptions } from '../training/trainer.ts';

type Configuration = Extract<ToWorker, { type: 'configure' }>;

/** Trainer threads of a rank. */
export const trainerThreadsOf = ({ spec }: Configuration): number =>
  asynchronousOf(spec)?.trainerThreads ?? 1;

/** @param memory of the rank's arena */
export function trainerOptions(
  configuration: Configuration,
  memory: WebAssembly.Memory,
): TrainerOptions {
  const { spec, rank, threads } = configuration;
  const { workload } = spec;
  const position = pipelinePosition(spec, rank);
  const several = trainerThreadsOf(configuration) > 1;
  return {
    model: workload.model,
    modelSource: workload.modelSource,
    dataset: workload.dataset,
    features: workload.features,
    synthetic: workload.synthetic,
    columns: workload.columns,
    samples: workload.samples,
    dataDirectory: workload.data,
    batchPerRank: workload.batchPerRank,
    rank: position?.replica ?? rank,
    world: replicaCount(spec.world.ranks, spec),
    seed: spec.seed,
    // A GPU computes one gradient after another.
    backend: several ? 'wasm' : spec.backend,
    python: spec.python,
    threads,
    rankOnMachine: rankOnMachine(configuration),
    optimizer: spec.optimizer,
    iterations: spec.iterations,
    pipeline: position,
    // Threads beside the worker's own have memory of their own.
    memory: several ? undefined : memory,
  };
}

/** The rank among those of its machine. */
function rankOnMachine({ places, rank, spec }: Configuration): RankOnMachine {
  const { ranks, shareGpu: share = false } = spec.world;
  if (places === undefined) return { place: rank, ranks, share };
  const here = places.flatMap((place, other) => (place === places[rank] ? other : []));
  return { place: here.indexOf(rank), ranks: here.length, share };
}
