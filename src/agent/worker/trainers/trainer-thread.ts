/** A thread that computes gradients: the worker's own, or another one. */
import type { Arena, Vector } from '../../memory/arena.ts';
import type { Trainer } from '../../training/trainer.ts';
import { BatchGradients, type ComputedGradient } from './batch-gradients.ts';

export interface ThreadGradient extends ComputedGradient {
  /** Time to copy the weights, ms. */
  readonly apply: number;
}

export interface TrainerThread {
  /** The flat weights for its next gradient. */
  readonly weights: Vector;
  /** Vector of the thread's gradients in the arena; default: the exchanged vector. */
  readonly gradient: Vector | undefined;
  /** Computes the gradient of a batch, valid until the next one. */
  compute(iteration: number): Promise<ThreadGradient>;
}

export interface GradientVectors {
  readonly weights: Vector;
  /** Vector to be written. */
  readonly gradient: Float32Array;
}

/** Copies the weights from the arena, then computes a gradient. */
export async function computeFrom(
  trainer: Trainer,
  arena: Arena,
  { gradient, weights }: GradientVectors,
  iteration: number,
): Promise<ThreadGradient> {
  const start = performance.now();
  await trainer.writeWeights(arena.f32(weights));
  const apply = performance.now() - start;
  const computed = await new BatchGradients(trainer).compute(iteration, gradient);
  return { ...computed, apply };
}
