/**
 * The policy for small tensors: they travel dense. Biases and norms are a small share of
 * the bytes and sensitive to noise.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 5: matrices of fewer than 10,000
 * elements are not quantised, and more than 99 % of the parameters still are.
 */
import { z } from 'zod';

export const minElements = z
  .int()
  .min(0)
  .max(2 ** 30)
  .default(10_000)
  .describe('Tensors of fewer elements travel as they are');
