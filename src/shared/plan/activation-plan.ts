/**
 * The exchange between pipeline stages: `exchange.activations` of a plan. The rows of a
 * matrix are samples, or tokens; its columns are units of the layer before the split.
 */
import { z } from 'zod';

const ACTIVATION_METHODS = [
  'none',
  'dct-mp',
  'gaussian-sketch',
  'topk-backward',
] as const;

export const activationPlanSchema = z.strictObject({
  method: z
    .enum(ACTIVATION_METHODS)
    .default('dct-mp')
    .describe(
      'dct-mp: the largest values of each row, and the same units backward; gaussian-sketch: a random projection forward; topk-backward: the largest values of the gradient',
    )
    .meta({ title: 'Activations' }),
  sparsity: z
    .number()
    .min(0)
    .lt(1)
    .default(0.9)
    .describe('Fraction of the values to leave out')
    .meta({ title: 'Fraction left out' }),
});
export type ActivationPlan = z.infer<typeof activationPlanSchema>;

/** Number of values of a row, or of a matrix, that are sent. */
export const valuesSent = (count: number, sparsity: number): number =>
  Math.max(1, Math.round(count * (1 - sparsity)));

/** Sparsities for which `inspectEvery` measures thresholds, in any run. */
export const MEASURED_SPARSITIES = [0.5, 0.75, 0.9, 0.95, 0.98] as const;

/** `dct-mp 90 %` */
export const activationsLabel = ({ method, sparsity }: ActivationPlan): string =>
  `${method} ${Number((sparsity * 100).toPrecision(3))} %`;
