/** A thread that computes gradients: the worker's own, or another beside it. */
import type { Arena, Vector } from '../../memory/arena.ts';
import type { Trainer } from '../../training/trainer.ts';
import { computeGradient, type ComputedGradient } from './compute-gradient.ts';

export interface ThreadGradient extends ComputedGradient {
  /** Taking the weights over, ms. */
  readonly apply: number;
}

export interface TrainerThread {
  /** Flat: the weights that its next gradient is computed with. */
  readonly weights: Vector;
  /** Where its gradients are in the arena; undefined: where gradients are exchanged. */
  readonly gradient: Vector | undefined;
  /** The gradient of a batch, which is there until the next is computed. */
  compute(iteration: number): Promise<ThreadGradient>;
}

export interface GradientVectors {
  readonly weights: Vector;
  /** To be written. */
  readonly gradient: Float32Array;
}

/** Weights over from the arena, then a gradient of them. */
export async function computeFrom(
  trainer: Trainer,
  arena: Arena,
  { gradient, weights }: GradientVectors,
  iteration: number,
): Promise<ThreadGradient> {
  const start = performance.now();
  await trainer.writeWeights(arena.f32(weights));
  const apply = performance.now() - start;
  return { ...(await computeGradient(trainer, iteration, gradient)), apply };
}
