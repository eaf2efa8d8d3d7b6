/**
 * Foresee a switch: checks it and predicts its exchange beside the current plan's, and changes
 * nothing. The lead machine rehearses both methods for as long as a few exchanges take.
 */
import { z } from 'zod';
import { exchangeForecastSchema } from '../cost-model/exchange-forecast.ts';
import { exchangePlanSchema, switchRequestSchema } from '../plan/plan-schemas.ts';
import { orderDefinition } from './order.ts';

const MOST_TENSORS = 100_000;

const foresightSchema = z.object({
  /** The plan that the switch would lead to. */
  plan: exchangePlanSchema,
  /** The first iteration at which it could take effect. */
  fence: z.int().min(0),
  now: exchangeForecastSchema,
  then: exchangeForecastSchema,
  /** The model's tensors, with their elements, for patterns of layers. */
  tensors: z
    .array(z.object({ name: z.string().max(1000), length: z.int().min(0) }))
    .max(MOST_TENSORS)
    .readonly(),
});
export type Foresight = Readonly<z.infer<typeof foresightSchema>>;

export const foreseeOrder = orderDefinition({
  type: 'foresee',
  asked: switchRequestSchema,
  answer: foresightSchema,
  told: undefined,
  asks: 'lead',
  isReading: false,
});
