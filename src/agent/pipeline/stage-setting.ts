/** The exchange between pipeline stages, as agreed between a trainer and its engine. */

/** `evaluation`: like `forward`, but with test samples, for which nothing comes back. */
export type Passage = 'forward' | 'backward' | 'evaluation';

/** Messages about a tensor that two stages use: its weights, or a gradient. */
export type SharedPassage = 'weights' | 'gradient';

/** Activations of a micro-batch, row-major: rows are samples or tokens, columns units. */
export interface MatrixShape {
  readonly rows: number;
  readonly width: number;
  /** The last units of each row that pass whole, with any method; default: none. */
  readonly skip?: number | undefined;
}

/** Plain data. */
export interface StageSetting {
  readonly stage: number;
  readonly microBatches: number;
  /** Shape of what comes from the stage before; `after`: of what goes to the next. */
  readonly before?: MatrixShape | undefined;
  readonly after?: MatrixShape | undefined;
  /** Tensors that several stages use. */
  readonly shared: readonly { readonly length: number }[];
}

/** Bytes as f32, and as sent. */
export interface PassedBytes {
  readonly dense: number;
  readonly payload: number;
}

/** Mean over rows of the threshold below which units are left out. */
export interface MeanThreshold {
  readonly sparsity: number;
  readonly mean: number;
}

/** Activations that a stage sent in one iteration. */
export interface PassedActivations extends PassedBytes {
  /** Thresholds of what went forward, before compression; undefined unless requested. */
  readonly thresholds?: readonly MeanThreshold[];
}
