/**
 * The policy for small tensors: they travel dense, because biases and norms are a small
 * share of the bytes and sensitive to noise. A quantiser keeps them in its payload as
 * f32 elements; for other methods the exchange puts them into separate buckets.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 5: matrices of fewer than 10,000
 * elements are not quantised, and more than 99 % of the parameters still are.
 */
import { z } from 'zod';
import type { JsonObject } from '../../../shared/checks/json.ts';

const elements = z
  .int()
  .min(0)
  .max(2 ** 30);

/** The parameter of quantisers. */
export const minElements = elements
  .default(10_000)
  .describe('Send tensors with fewer elements uncompressed');

/** Parameters of methods that do not handle small tensors themselves. */
export const smallTensorParameters = {
  minElements: elements
    .default(0)
    .describe(
      'Send tensors with fewer elements uncompressed, in separate buckets; 0: none',
    ),
};

/** The name of their parameter. */
export const APART_BELOW = 'minElements' satisfies keyof typeof smallTensorParameters;

/** Whether the exchange, rather than the method, must send a tensor of this length dense. */
export function travelsApart(
  { apartBelow }: { readonly apartBelow?: string | undefined },
  parameters: JsonObject,
  length: number,
): boolean {
  const least = apartBelow === undefined ? undefined : parameters[apartBelow];
  return typeof least === 'number' && length < least;
}
