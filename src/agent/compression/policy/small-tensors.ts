/**
 * The policy for small tensors: they travel dense. Biases and norms are a small share of
 * the bytes and sensitive to noise. A quantiser keeps them within its payload, as f32
 * elements; for the other methods the exchange sets them apart, in buckets of their own.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 5: matrices of fewer than 10,000
 * elements are not quantised, and more than 99 % of the parameters still are.
 */
import { z } from 'zod';
import type { JsonObject } from '../../../shared/json.ts';

const elements = z
  .int()
  .min(0)
  .max(2 ** 30);

/** Of a quantiser. */
export const minElements = elements
  .default(10_000)
  .describe('Send tensors with fewer elements uncompressed');

/** Of a method that knows nothing of it. */
export const smallTensorParameters = {
  minElements: elements
    .default(0)
    .describe(
      'Send tensors with fewer elements uncompressed, in buckets of their own; 0: none',
    ),
};

/** The parameter of these. */
export const APART_BELOW = 'minElements' satisfies keyof typeof smallTensorParameters;

/** Whether the exchange has to carry a tensor of this length dense, for the method will not. */
export function travelsApart(
  { apartBelow }: { readonly apartBelow?: string | undefined },
  parameters: JsonObject,
  length: number,
): boolean {
  const least = apartBelow === undefined ? undefined : parameters[apartBelow];
  return typeof least === 'number' && length < least;
}
