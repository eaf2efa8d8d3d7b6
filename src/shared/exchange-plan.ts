/**
 * The exchange plan: how gradients travel. It is versioned by epoch; a switch moves
 * every rank from one epoch's plan to the next at one fence.
 */
import { z } from 'zod';
import {
  activationPlanSchema,
  activationsLabel,
  type ActivationPlan,
} from './activation-plan.ts';
import type { JsonObject } from './json.ts';
import { quantizationSchema, type Quantization } from './quantization.ts';

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
  /** What some tensors have instead: the first whose pattern fits. Default: nothing. */
  readonly layers?: readonly LayerPlan[] | undefined;
  /** What the collective sends in few bits. Default: values travel as they are. */
  readonly quantizeSums?: Quantization | undefined;
  /** Of a collective that has servers, how many ranks are one. Others have none. */
  readonly servers?: number | undefined;
  /** What the stages of a pipeline send one another. Default: everything. */
  readonly activations?: ActivationPlan | undefined;
}

/** The method of the tensors whose names a pattern fits, its parameters written out. */
export interface LayerPlan {
  /** All of the name; `*` stands for any characters. */
  readonly match: string;
  readonly method: string;
  readonly parameters: JsonObject;
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
export const PLAN_KEYS = [
  'method',
  'collective',
  'bucketBytes',
  'layers',
  'quantizeSums',
  'servers',
  'activations',
] as const;

/**
 * Names by which the choice of the collective is left to the cost model. `auto` goes by
 * what was sent and by how far it filled in, which every run of a spec repeats; `adaptive`
 * goes by the time that exchanges take as well, which none does.
 */
const AUTOMATIC = ['auto', 'adaptive'] as const;

export const isAutomatic = (collective: string): boolean =>
  AUTOMATIC.some((name) => name === collective);

export const heedsTimes = (collective: string): boolean => collective === 'adaptive';

/** Whether any gradient goes out otherwise than as its own f32 values. */
export const compresses = ({
  method,
  layers = [],
  quantizeSums,
}: Pick<ExchangePlan, 'method' | 'layers' | 'quantizeSums'>): boolean =>
  quantizeSums !== undefined ||
  [method, ...layers.map((layer) => layer.method)].some((id) => id !== 'none');

/**
 * `exchange` in a spec, and the change asked for in a switch: plan keys and the method's
 * parameters side by side, as in `{ method: topk, ratio: 0.01, collective: auto }`. The
 * method's parameters are checked by the agent, which has the method's own schema.
 */
export const exchangeSpecSchema = z.looseObject({
  method: z.string().default('none').describe('How a gradient is compressed'),
  collective: z
    .string()
    .default('auto')
    .describe(
      'How payloads are combined; auto: the cheapest predicted; adaptive: also by measured times',
    ),
  bucketBytes: z
    .int()
    .min(1)
    .max(2 ** 30)
    .default(4 * 2 ** 20)
    .describe('Tensors are fused into buckets of at least this many bytes'),
  layers: z
    .array(
      z.looseObject({
        match: z
          .string()
          .min(1)
          .max(200)
          .describe('Tensor names; * matches any characters'),
        method: z
          .string()
          .optional()
          .describe('Their method; default: that of the other tensors'),
      }),
    )
    .max(100)
    .default([])
    .describe('Methods or parameters for tensors by name; the first match applies'),
  quantizeSums: quantizationSchema
    .optional()
    .describe('Bits per value that the collective sends; default: values as they are'),
  servers: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Ranks that are also servers, for collective: parameter-server; default: 1',
    ),
  activations: activationPlanSchema
    .optional()
    .describe(
      'Compression of the activations that pipeline stages exchange; default: none',
    ),
});
export type ExchangeSpec = z.infer<typeof exchangeSpecSchema>;

interface NamedMethod {
  readonly method: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A plan as records have it: its parameters are whatever JSON the agent wrote. */
export interface NamedPlan extends NamedMethod {
  readonly collective: string;
  readonly bucketBytes: number;
  readonly layers?: readonly (NamedMethod & Pick<LayerPlan, 'match'>)[] | undefined;
  readonly quantizeSums?: Quantization | undefined;
  readonly servers?: number | undefined;
  readonly activations?: ActivationPlan | undefined;
}

/** A plan as it is written under `exchange`, every parameter given. */
export function planAsExchange(plan: NamedPlan): ExchangeSpec & JsonObject {
  const {
    method,
    parameters,
    collective,
    bucketBytes,
    layers = [],
    quantizeSums,
    servers,
    activations,
  } = plan;
  return {
    method,
    ...(parameters as JsonObject),
    collective,
    bucketBytes,
    layers: layers.map((layer) => ({
      match: layer.match,
      method: layer.method,
      ...(layer.parameters as JsonObject),
    })),
    ...(quantizeSums === undefined ? {} : { quantizeSums }),
    ...(servers === undefined ? {} : { servers }),
    ...(activations === undefined ? {} : { activations }),
  };
}

/**
 * A plan as a switch to it is written, whatever is in force then: what it does not have is
 * taken off by name.
 */
export function planAsChange(plan: NamedPlan): JsonObject {
  const { layers = [] } = plan;
  const written: JsonObject = planAsExchange({
    ...startedAt(plan),
    layers: layers.map(startedAt),
  });
  const { activations, quantizeSums = null } = plan;
  return {
    ...written,
    quantizeSums,
    ...(activations === undefined ? {} : { activations }),
  };
}

/** Plans of older records do not say that warm-ups and ramps began with the run. */
function startedAt<T extends NamedMethod>(plan: T): T {
  const { warmupIterations = 0, rampIterations = 0 } = plan.parameters;
  return {
    ...plan,
    parameters: {
      ...(warmupIterations === 0 ? {} : { warmupStart: 0 }),
      ...(rampIterations === 0 ? {} : { rampStart: 0 }),
      ...plan.parameters,
    },
  };
}

/** A plan in a few words, for markers, lists and buttons: `topk 1 %`, `none`. */
export function planLabel(plan: NamedMethod): string {
  const { quantize } = plan.parameters;
  const bits = (quantize as { bits?: unknown } | undefined)?.bits;
  const label = methodLabel(plan);
  return typeof bits === 'number' && bits > 0 ? `${label} in ${bits} bit` : label;
}

function methodLabel({ method, parameters }: NamedMethod): string {
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

/** A plan for a line of text: its label, the collective and layers where some were chosen. */
export function describePlan(
  plan: NamedMethod &
    Pick<
      NamedPlan,
      'activations' | 'collective' | 'layers' | 'quantizeSums' | 'servers'
    >,
): string {
  const collective = plan.collective === 'auto' ? '' : ` over ${plan.collective}`;
  const servers =
    plan.servers === undefined ? '' : ` with ${serversText(plan.servers)}`;
  const layers = describeLayers(plan);
  const bits =
    plan.quantizeSums === undefined ? '' : ` in ${plan.quantizeSums.bits} bit`;
  const passed =
    plan.activations === undefined
      ? ''
      : `, activations ${activationsLabel(plan.activations)}`;
  const named = `${planLabel(plan)}${collective}${servers}${bits}${passed}`;
  return layers === '' ? named : `${named} [${layers}]`;
}

export const serversText = (servers: number): string =>
  servers === 1 ? '1 server' : `${servers} servers`;

/** What a switch changes: the two plans, and between equal methods what differs. */
export function describeSwitch(from: NamedPlan, to: NamedPlan): string {
  const plans = `${describePlan(from)} → ${describePlan(to)}`;
  const before: Record<string, unknown> = { ...from.parameters, ...sizes(from) };
  const after: Record<string, unknown> = { ...to.parameters, ...sizes(to) };
  const changes = Object.keys(after)
    .filter((key) => key in before && written(before[key]) !== written(after[key]))
    .map((key) => `${key} ${written(before[key])} → ${written(after[key])}`);
  return changes.length === 0 ? plans : `${plans} (${changes.join(', ')})`;
}

/** `*.bias: none, conv*: topk 10 %` */
function describeLayers({ layers = [] }: Pick<NamedPlan, 'layers'>): string {
  return layers.map((layer) => `${layer.match}: ${planLabel(layer)}`).join(', ');
}

function sizes({ bucketBytes }: Pick<NamedPlan, 'bucketBytes'>): object {
  return { bucketBytes };
}

function written(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
