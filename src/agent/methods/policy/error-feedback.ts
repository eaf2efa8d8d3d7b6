/**
 * The parameter of quantisers for which error feedback is optional: what a rank's payload does not
 * represent is added to its next gradient.
 *
 * It helps where the error is smaller than what was quantised. Randomly rounded levels may err by
 * more than that, by few levels above all, and then the residual grows without bound.
 *
 * Source: Karimireddy et al., "Error Feedback Fixes SignSGD and other Gradient Compression
 * Schemes", ICML 2019, section 4.
 */
import { z } from 'zod';

export const errorFeedback = z
  .boolean()
  .default(false)
  .describe(
    'Keep what the codes lose in a residual; it grows without bound where they lose more than they send',
  );

/** Name of that parameter, for `residualIf`. */
export const ERROR_FEEDBACK = 'errorFeedback';
