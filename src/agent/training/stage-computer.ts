/** The layers of a stage as jax-js (`jax-stage.ts`) or PyTorch computes them, by micro-batch. */
import type { ParameterArena } from './arena-parameters.ts';
import type { BatchLoader } from './batch-loader.ts';
import type { Measure } from './measure-totals.ts';

/** Vectors that it gives hold until its next call, as do those that it is given. */
export interface StageComputer {
  /** The batch's samples, by micro-batch. */
  readonly microBatches: readonly BatchLoader[];
  /** Test samples, as many as a micro-batch has. */
  readonly test: BatchLoader;

  joinArena?(memory: ParameterArena): Promise<void>;
  /** Hears that the weights have changed. */
  moved?(): void;
  /** Takes the weights of other stages' tensors, in the order of `borrowedBy`. */
  borrow(values: readonly Float32Array[]): void;
  /** Begins a batch. @param gradient of the stage's tensors, to be computed */
  begin(gradient: Float32Array): void;
  /**
   * Passes a micro-batch through the layers.
   * @param before what the stage before gives of it, [samples · rows, width]; undefined in the first
   * @returns what this stage gives
   */
  forward(i: number, before: Float32Array | undefined): Promise<Float32Array>;
  /**
   * Passes it back, after `forward`.
   * @param after the gradient of what this stage gave
   * @returns that of what the stage before gave, if there is one
   */
  backward(i: number, after: Float32Array): Promise<Float32Array | undefined>;
  /** Computes `forward`, the part of the loss, and `backward`, in the last stage. */
  losses(i: number, before: Float32Array | undefined): Promise<StageLosses>;
  /**
   * Ends a batch: the gradient is complete.
   * @returns the gradients of other stages' tensors, in the order of `borrowedBy`
   */
  finish(): Promise<readonly Float32Array[]>;
  /** `forward` of the test samples that are loaded. */
  pass(before: Float32Array | undefined): Promise<Float32Array>;
  /** Measures of the test samples that are loaded, in the last stage. */
  score(before: Float32Array | undefined): Promise<readonly Measure[]>;
  close?(): void;
}

export interface StageLosses {
  /** Measures of the micro-batch's samples. */
  readonly measures: readonly Measure[];
  /** The gradient that `backward` returns. */
  readonly back: Float32Array | undefined;
}
