/** The trainer that a rank asks for, on whichever backend. */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import { createTrainer } from '../training/create-trainer.ts';
import { openWorkload } from '../training/open-workload.ts';
import { openJaxRuntime } from '../training/runtime/jax-runtime.ts';
import type { Trainer, TrainerOptions } from '../training/trainer.ts';
import { TorchProcess } from './torch-process.ts';
import { TorchTrainer } from './torch-trainer.ts';

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
    return await TorchTrainer.open({ ...opened, runtime, options, process });
  } catch (error) {
    process.close();
    throw error;
  }
}
