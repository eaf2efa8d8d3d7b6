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

type NamedPlan = Pick<ExchangePlan, 'method'> & {
  readonly parameters: Readonly<Record<string, unknown>>;
};

/** A plan in a few words, for markers, lists and buttons: `topk 1 %`, `none`. */
export function planLabel({ method, parameters }: NamedPlan): string {
  const { ratio, k, bits, rank, threshold } = parameters;
  if (typeof k === 'number' && k > 0) return `${method} k=${k}`;
  if (typeof ratio === 'number') {
    return `${method} ${Number((ratio * 100).toPrecision(3))} %`;
  }
  if (typeof bits === 'number') return `${method} ${bits} bit`;
  if (typeof rank === 'number') return `${method} rank ${rank}`;
  if (typeof threshold === 'number') return `${method} ≥ ${threshold}`;
  return method;
}

/** A plan for a line of text: its label, and the collective where one was chosen. */
export function describePlan(
  plan: NamedPlan & Pick<ExchangePlan, 'collective'>,
): string {
  const collective = plan.collective === 'auto' ? '' : ` over ${plan.collective}`;
  return `${planLabel(plan)}${collective}`;
}

/** What a switch changes: the two plans, and between equal methods what differs. */
export function describeSwitch(
  from: NamedPlan & Omit<ExchangePlan, 'parameters'>,
  to: NamedPlan & Omit<ExchangePlan, 'parameters'>,
): string {
  const plans = `${describePlan(from)} → ${describePlan(to)}`;
  const before: Record<string, unknown> = { ...from.parameters, ...sizes(from) };
  const after: Record<string, unknown> = { ...to.parameters, ...sizes(to) };
  const changes = Object.keys(after)
    .filter((key) => key in before && before[key] !== after[key])
    .map((key) => `${key} ${String(before[key])} → ${String(after[key])}`);
  return changes.length === 0 ? plans : `${plans} (${changes.join(', ')})`;
}

function sizes({ bucketBytes }: Pick<ExchangePlan, 'bucketBytes'>): object {
  return { bucketBytes };
}
