/** The run that an exchange plan is for, as far as it decides about the plan. */

/** An optimiser that keeps its momentum. */
export interface MomentumOwner {
  readonly name: string;
  /** The next step for the user. */
  readonly next: string;
}

/** Reason that something cannot be, and what to do about it. */
export interface Refusal {
  readonly message: string;
  readonly next: string;
}

/** The run that a plan is for, in as far as it is known. */
export interface PlanSetting {
  /** Names of the model's tensors; a pattern must match one of them. */
  readonly tensors?: readonly string[] | undefined;
  /** Iterations of a pass over the data, for `warmupEpochs` and similar parameters. */
  readonly iterationsPerPass?: number | undefined;
  /** The optimiser's momentum, for methods that apply it themselves. */
  readonly momentum?: number | undefined;
  /** An optimiser that cannot leave its momentum to the method. */
  readonly ownMomentum?: MomentumOwner | undefined;
  /** Whether the model is split into stages, which send each other activations. */
  readonly isPipeline?: boolean | undefined;
  /**
   * Weight decay λ of the optimiser after the exchange, for methods that move few weights.
   */
  readonly weightDecay?: number | undefined;
  /** Reason that no residual can be kept in units of updates, if none can. */
  readonly noUpdates?: Refusal | undefined;
  /** P, the number of ranks: servers are some of them. */
  readonly ranks?: number | undefined;
  /** Whether each rank pushes to servers by itself, and no collective carries anything. */
  readonly pushes?: boolean | undefined;
  /** The switch's epoch: its warm-ups and ramps begin at its fence. */
  readonly epoch?: number | undefined;
}
