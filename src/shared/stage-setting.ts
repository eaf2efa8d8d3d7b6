/** What the stages of a pipeline send one another: what a trainer and its engine agree on. */

/** `evaluation`: as `forward`, of test samples, for which nothing comes back. */
export type Passage = 'forward' | 'backward' | 'evaluation';

/** What one stage gives another of a tensor that both use: weights, or a gradient. */
export type SharedPassage = 'weights' | 'gradient';

/** Of a micro-batch: rows are samples or tokens, columns are units. Row by row in memory. */
export interface MatrixShape {
  readonly rows: number;
  readonly width: number;
}

/** Plain data. */
export interface StageSetting {
  readonly stage: number;
  readonly microBatches: number;
  /** From the stage before, and to the next. */
  readonly before?: MatrixShape | undefined;
  readonly after?: MatrixShape | undefined;
  /** Tensors that several stages use. */
  readonly shared: readonly { readonly length: number }[];
}

/** As f32, and as they were sent. */
export interface PassedBytes {
  readonly dense: number;
  readonly payload: number;
}

/** Of activations by rows: the mean of the magnitudes that the units left out stay below. */
export interface MeanThreshold {
  readonly sparsity: number;
  readonly mean: number;
}

/** What a stage sent in an iteration. */
export interface PassedActivations extends PassedBytes {
  /** Of what went forward, before any of it was left out; undefined unless asked for. */
  readonly thresholds?: readonly MeanThreshold[];
}
