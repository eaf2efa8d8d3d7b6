/**
 * The exchange plan: how gradients travel. It is versioned by epoch; a switch moves
 * every rank from one epoch's plan to the next at one fence.
 */
import { z } from 'zod';
import type { JsonObject } from './json.ts';

/** What happens to a residual that the new method cannot take over. */
export const RESIDUAL_POLICIES = ['flush', 'drop'] as const;
export type ResidualPolicy = (typeof RESIDUAL_POLICIES)[number];

export interface ExchangePlan {
  readonly method: string;
  /** Validated, defaults filled in, by the method's own schema. */
  readonly parameters: JsonObject;
  /** A collective's id, or `auto`: every rank then takes the cheapest for each bucket. */
  readonly collective: string;
  /** Tensors are fused into buckets of at least this many bytes of f32. */
  readonly bucketBytes: number;
}

export interface PlanSwitch {
  /**
   * The plan's version, given in the order in which switches were asked for: 1 for the
   * first; epoch 0 is the spec's. A scheduled switch may take effect after a later one.
   */
  readonly epoch: number;
  /** The fence is the first iteration ≥ this at which every rank knows the switch. */
  readonly notBefore: number;
  readonly plan: ExchangePlan;
  readonly residual: ResidualPolicy;
}

/** Keys of `exchange` that belong to the plan; all others are the method's parameters. */
export const PLAN_KEYS = ['method', 'collective', 'bucketBytes'] as const;

/**
 * `exchange` in a spec, and the change asked for in a switch: plan keys and the method's
 * parameters side by side, as in `{ method: topk, ratio: 0.01, collective: auto }`. The
 * method's parameters are checked by the agent, which has the method's own schema.
 */
export const exchangeSpecSchema = z.looseObject({
  method: z.string().default('none').describe('How a gradient is compressed'),
  collective: z.string().default('auto').describe('How payloads are combined'),
  bucketBytes: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(4 * 2 ** 20)
    .describe('Tensors are fused into buckets of at least this many bytes'),
});
export type ExchangeSpec = z.infer<typeof exchangeSpecSchema>;

/** For a line of text: the method, its parameters that are on, a collective if chosen. */
export function describePlan(plan: ExchangePlan): string {
  const parameters = Object.entries(plan.parameters)
    .filter(([, value]) => value !== 0 && value !== null && value !== false)
    .map(([key, value]) => ` ${key}=${String(value)}`)
    .join('');
  const collective = plan.collective === 'auto' ? '' : ` over ${plan.collective}`;
  return `${plan.method}${parameters}${collective}`;
}
