/**
 * A stretch of iterations among a method's parameters: a warm-up, a ramp. A method's
 * definition lists them, so that a plan can convert lengths in passes and knows where each
 * begins.
 */

/** All fields are names of parameters. */
export interface Schedule {
  /** Parameter of the length in iterations; 0: no such stretch. */
  readonly iterations: string;
  /** Parameter of the length in passes over the data, instead. */
  readonly epochs: string;
  /** The iteration at which it begins, if a switch can set it. */
  readonly start?: string | undefined;
  /** Other parameters that shape it. */
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
