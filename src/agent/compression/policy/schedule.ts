/**
 * A stretch of iterations among a method's parameters: a warm-up, a ramp. Its definition lists
 * them, so that a plan can convert lengths in epochs, and knows where each begins.
 */

/** Names of parameters. */
export interface Schedule {
  /** Its length; 0: there is none. */
  readonly iterations: string;
  /** Its length in passes over the data, instead. */
  readonly epochs: string;
  /** The iteration at which it begins, where a switch can say so. */
  readonly start?: string | undefined;
  /** What else says how it goes. */
  readonly others?: readonly string[] | undefined;
}

export const RAMP: Schedule = {
  iterations: 'rampIterations',
  epochs: 'rampEpochs',
  start: 'rampStart',
  others: ['rampFrom'],
};

export const WARM_UP: Schedule = {
  iterations: 'warmupIterations',
  epochs: 'warmupEpochs',
  start: 'warmupStart',
};
