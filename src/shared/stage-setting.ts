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
