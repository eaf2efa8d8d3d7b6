/** The mean step of a run, as it is drawn beside a predicted one. Times in ms. */
export interface MeasuredStep {
  readonly run: string;
  readonly name: string;
  /** The method at the start, and the plan in words. */
  readonly method: string;
  readonly plan: string;
  readonly ranks: number;
  readonly machines: number;
  /** Bit/s of the emulated network; undefined: the real one. */
  readonly bandwidth?: number | undefined;
  /** Data, gradient and update. */
  readonly compute: number;
  readonly step: number;
  /** Bytes that a rank sent, with framing. */
  readonly sent?: number | undefined;
}

/** The settings that runs must have in common to be drawn beside a plan. */
export interface MeasuredQuery {
  readonly model: string;
  readonly dataset: string;
  readonly batchPerRank: number;
}
