/** The parameter of methods that round what a rank sends to floats of fewer bits. */
import { z } from 'zod';

export const roundingParameter = z
  .enum(['nearest', 'stochastic'])
  .default('nearest')
  .describe(
    'Rounding of what a rank sends: to the nearest value, or at random with the value as the expectation, to 2⁻¹⁶ of a gap',
  );
