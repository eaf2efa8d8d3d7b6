/**
 * The entry to training: creates trainers.
 */
import { parameterCount } from './models/model.ts';
import { openJaxRuntime } from './runtime/jax-runtime.ts';
import { JaxStage } from './jax-stage.ts';
import { JaxTrainer } from './jax-trainer.ts';
import { isLayered } from './models/layered.ts';
import { splitModel } from './models/split-model.ts';
import { StageTrainer } from './stage-trainer.ts';
import { isSynthetic, syntheticWorkload } from './synthetic/synthetic-workload.ts';
import { SyntheticTrainer } from './synthetic-trainer.ts';
import type { Trainer, TrainerOptions } from './trainer.ts';
import { openWorkload } from './open-workload.ts';

export { thrownByModelFile } from './models/model-file.ts';
export { tellReading } from './datasets/reading-progress.ts';
export { mayHaveGpu } from './runtime/jax-runtime.ts';
/**
 * The most parameters of a model that computes in the arena's memory, which has 4 GiB: what it saves
 * in time counts less for larger ones, and they may need all of their own 4 GiB.
 */
const MOST_SHARED = 2 ** 22;

/**
 * A trainer with its data loaded, its functions not yet compiled: the first call of
 * each pays for that (some 60 ms on wasm).
 * @throws GradwireError as `findWorkload` and `loadModelFile`; `DATA_*` if the data set
 * cannot be read; `BACKEND_UNAVAILABLE`, `GPU_SHARED`.
 */
export async function createTrainer(options: TrainerOptions): Promise<Trainer> {
  if (isSynthetic(options)) {
    // `auto` is the CPU: many ranks of one computer represent as many GPUs.
    const runtime =
      options.backend === 'webgpu'
        ? await openJaxRuntime({ ...options, backend: options.backend })
        : undefined;
    return new SyntheticTrainer(syntheticWorkload(options), options, runtime);
  }
  const { model, optimizer, shard } = await openWorkload(options);
  const { backend, pipeline } = options;
  const isSmall = parameterCount(model) <= MOST_SHARED;
  const memory = isSmall ? options.memory : undefined;
  if (backend === 'torch') throw new Error('internal: PyTorch is no backend of jax-js');
  const runtime = await openJaxRuntime({ ...options, backend, memory });
  if (pipeline === undefined) {
    return new JaxTrainer({ runtime, model, optimizer, shard, options });
  }
  if (!isLayered(model)) throw new Error(`internal: ${model.id} has no layers`);
  const { microBatches, splitAfter } = pipeline;
  const stage = splitModel(model, splitAfter)[pipeline.stage]!;
  const samples = options.batchPerRank / microBatches;
  return new StageTrainer({
    runtime,
    model,
    optimizer,
    shard,
    options,
    microBatches,
    stage,
    computer: (weights) =>
      new JaxStage({ runtime, model, stage, shard, weights, samples, microBatches }),
  });
}
