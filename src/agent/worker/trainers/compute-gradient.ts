/** Computes the gradient of a batch. */
import type { ComputedStep, GradientMemory, Trainer } from '../../training/trainer.ts';

/** A batch's gradient, and its times in ms. */
export interface ComputedGradient {
  /** Wall-clock start time, ms since 1970. */
  readonly at: number;
  /** The same on the trainer thread's clock; absent if another thread computed it. */
  readonly began?: number | undefined;
  readonly step: ComputedStep;
  readonly data: number;
  readonly compute: number;
}

interface ComputeOptions {
  /** Tells the first element that is ready, as the backward pass continues. */
  readonly ready?: ((from: number) => void) | undefined;
  /** Loads the trainer's batches; default: the trainer itself. */
  readonly batches?: Pick<Trainer, 'loadBatch'> | undefined;
}

export async function computeGradient(
  trainer: Trainer,
  iteration: number,
  into: GradientMemory,
  { ready, batches = trainer }: ComputeOptions = {},
): Promise<ComputedGradient> {
  const at = Date.now();
  const start = performance.now();
  batches.loadBatch(iteration);
  const loaded = performance.now();
  const step = await trainer.computeGradient(into, ready);
  const end = performance.now();
  return { at, began: start, step, data: loaded - start, compute: end - loaded };
}
