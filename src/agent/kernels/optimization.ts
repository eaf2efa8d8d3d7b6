/**
 * Steps of optimisers: weights and their state are updated in place by a gradient, in one
 * pass. f32, rounded after each operation, in the order in which the formulas are
 * written: the same bits as the step in jax-js on WebAssembly. All vectors of a step have
 * the same length, and none begins within another. A part of `Kernels`.
 */
import type { Vector } from '../memory/arena.ts';

export interface DescentStep {
  /** Learning rate η. */
  readonly rate: number;
  /** Weight decay λ: g ← factor·gradient + λ·w; with 0 nothing is added. */
  readonly weightDecay: number;
  /** The factor by which the gradient is scaled first; 1 changes nothing. */
  readonly factor: number;
}

export interface MomentumStep extends DescentStep {
  /** Momentum μ. */
  readonly momentum: number;
  readonly nesterov: boolean;
}

export interface AdagradStep extends DescentStep {
  readonly epsilon: number;
}

export interface AdamStep extends DescentStep {
  /**
   * Whether the decay is subtracted from the weights, w ← w − w·η·λ, instead of added to
   * the gradient.
   */
  readonly decoupled: boolean;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** 1 ⁄ (1 − β₁ᵗ). */
  readonly ofMean: number;
  /** 1 ⁄ √(1 − β₂ᵗ). */
  readonly ofRoot: number;
}

export interface OptimizationKernels {
  /** w ← w − g·η. */
  descend(weights: Vector, gradient: Vector, step: DescentStep): void;
  /** v ← v·μ + g, w ← w − v·η; by Nesterov w ← w − (g + v·μ)·η. */
  descendWithMomentum(
    weights: Vector,
    velocity: Vector,
    gradient: Vector,
    step: MomentumStep,
  ): void;
  /** s ← s + g·g, w ← w − g·(1 ⁄ (√s + ε))·η. */
  adagrad(weights: Vector, squares: Vector, gradient: Vector, step: AdagradStep): void;
  /**
   * m ← m·β₁ + g·(1 − β₁), v ← v·β₂ + g·g·(1 − β₂),
   * w ← w − m·ofMean·(1 ⁄ (√v·ofRoot + ε))·η.
   */
  adam(
    weights: Vector,
    mean: Vector,
    square: Vector,
    gradient: Vector,
    step: AdamStep,
  ): void;
}
