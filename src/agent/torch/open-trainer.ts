/** The trainer that a rank asks for, on whichever backend. */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import { createTrainer } from '../training/create-trainer.ts';
import { isLayered } from '../training/models/layered.ts';
import { splitModel } from '../training/models/split-model.ts';
import { openWorkload } from '../training/open-workload.ts';
import { openJaxRuntime } from '../training/runtime/jax-runtime.ts';
import { StageTrainer } from '../training/stage-trainer.ts';
import type { Trainer, TrainerOptions } from '../training/trainer.ts';
import { TorchProcess } from './torch-process.ts';
import { TorchStage } from './torch-stage.ts';
import { TorchTrainer, type TorchTrainerParts } from './torch-trainer.ts';

const ALONE = { place: 0, ranks: 1, share: false };

/** @throws GradwireError as `createTrainer`; `BRIDGE_UNAVAILABLE` */
export async function openTrainer(options: TrainerOptions): Promise<Trainer> {
  if (options.backend !== 'torch') return createTrainer(options);
  const { python = 'python3', rank, rankOnMachine = ALONE, threads } = options;
  const starting = TorchProcess.start({
    python,
    rank,
    threads: Math.max(1, Math.floor(threads)),
    rankOnMachine,
  });
  starting.catch(awaitedElsewhere);
  // While PyTorch is loaded, the data are.
  const [opened, runtime] = await Promise.all([
    openWorkload(options),
    openJaxRuntime({ backend: 'wasm', threads: 1 }),
  ]).catch(async (error: unknown) => {
    const close = (process: TorchProcess): void => {
      process.close();
    };
    await starting.then(close, awaitedElsewhere);
    throw error;
  });
  const process = await starting;
  try {
    const parts = { ...opened, runtime, options, process };
    return await (options.pipeline === undefined
      ? TorchTrainer.open(parts)
      : openStage(parts, options.pipeline));
  } catch (error) {
    process.close();
    throw error;
  }
}

async function openStage(
  { model, process, ...parts }: TorchTrainerParts,
  { microBatches, splitAfter, stage: index }: NonNullable<TrainerOptions['pipeline']>,
): Promise<Trainer> {
  if (!isLayered(model)) throw new Error(`internal: ${model.id} has no layers`);
  const stage = splitModel(model, splitAfter)[index]!;
  const samples = parts.options.batchPerRank / microBatches;
  const computed = { process, model, stage, shard: parts.shard, samples, microBatches };
  const desk = await TorchStage.openDesk(computed);
  return new StageTrainer({
    ...parts,
    model,
    stage,
    microBatches,
    elsewhere: { backend: 'torch', device: process.device },
    computer: (weights) => new TorchStage(computed, desk, weights),
  });
}
