/** Computes the gradient of a batch. */
import type { ComputedStep, GradientMemory, Trainer } from '../../training/trainer.ts';

/** A batch's gradient, and its times in ms. */
export interface ComputedGradient {
  /** Wall-clock start time, ms since 1970. */
  readonly at: number;
  readonly step: ComputedStep;
  readonly data: number;
  readonly compute: number;
}

/** @param ready called with the first element that is ready, as the backward pass continues */
export async function computeGradient(
  trainer: Trainer,
  iteration: number,
  into: GradientMemory,
  ready?: (from: number) => void,
): Promise<ComputedGradient> {
  const at = Date.now();
  const start = performance.now();
  trainer.loadBatch(iteration);
  const loaded = performance.now();
  const step = await trainer.computeGradient(into, ready);
  const end = performance.now();
  return { at, step, data: loaded - start, compute: end - loaded };
}
