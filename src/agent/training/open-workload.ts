/** Opens what a rank trains: its model, optimiser and shard of the data. */
import type { RankShard } from './datasets/dataset.ts';
import { findWorkload } from './find-workload.ts';
import { loadModelFile, ownSource } from './models/model-file.ts';
import type { Model } from './models/model.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import type { TrainerOptions } from './trainer.ts';

export interface OpenedWorkload {
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly shard: RankShard;
}

/**
 * @throws GradwireError as `findWorkload` and `loadModelFile`; `DATA_*` if the data set cannot be
 * read
 */
export async function openWorkload(options: TrainerOptions): Promise<OpenedWorkload> {
  const source = ownSource(options);
  const own = source && (await loadModelFile(source));
  const { dataset, features, model, optimizer } = findWorkload(
    { ...options, data: options.dataDirectory, optimizer: options.optimizer.kind },
    own,
  );
  const shard = await dataset.open({
    rank: options.rank,
    world: options.world,
    directory: options.dataDirectory,
    columns: options.columns,
    samples: options.samples,
    inputs: model.inputs,
    features,
  });
  return { model, optimizer, shard };
}
