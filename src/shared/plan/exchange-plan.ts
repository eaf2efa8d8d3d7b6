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
import type { MethodEntry } from '../catalogue/catalogue.ts';
import type { JsonObject } from '../checks/json.ts';
import { deltaSettingSchema, deltaText, type DeltaSetting } from './delta-setting.ts';
import {
  quantizationLabel,
  quantizationSchema,
  type Quantization,
} from './quantization.ts';
import type { SwitchGuard } from './switch-guard.ts';

/** Fates of a residual that the new method cannot take over. */
export const RESIDUAL_POLICIES = ['flush', 'drop'] as const;
export type ResidualPolicy = (typeof RESIDUAL_POLICIES)[number];

/** Units in which error feedback keeps a residual while the learning rate changes. */
export const RESIDUAL_UNITS = ['gradient', 'update'] as const;
type ResidualUnits = (typeof RESIDUAL_UNITS)[number];

export interface ExchangePlan {
  readonly method: string;
  /** The method and what matters of its parameters in a few words. Absent in older records. */
  readonly label?: string | undefined;
  /** Validated, defaults filled in, by the method's own schema. */
  readonly parameters: JsonObject;
  /** A collective's id, or `auto`: every rank then takes the cheapest for each bucket. */
  readonly collective: string;
  /** Tensors are fused into buckets of at least this many bytes of f32. */
  readonly bucketBytes: number;
  /** Policies for some tensors: the first matching pattern applies. Default: none. */
  readonly layers?: readonly LayerPlan[] | undefined;
  /** The collective's quantisation of what it sends. Default: full precision. */
  readonly quantizeSums?: Quantization | undefined;
  /** Number of ranks that are servers, for collectives with servers. */
  readonly servers?: number | undefined;
  /** δ/N at which sparse streams turn dense. Default: where both forms take as many bytes. */
  readonly delta?: DeltaSetting | undefined;
  /** Compression of what pipeline stages send. Default: none. */
  readonly activations?: ActivationPlan | undefined;
  /** Default: gradient. */
  readonly residualUnits?: ResidualUnits | undefined;
}

/** The method of the tensors whose names match a pattern, with all its parameters. */
export interface LayerPlan {
  /** Matches the whole name; `*` stands for any characters. */
  readonly match: string;
  readonly method: string;
  readonly label?: string | undefined;
  readonly parameters: JsonObject;
}

/** A predicted step after a switch, with its 95 % interval, in milliseconds. */
export interface Foreseen {
  readonly step: number;
  readonly low: number;
  readonly high: number;
}

export interface PlanSwitch {
  /**
   * The plan's version, numbered in the order in which switches were requested: 1 for the
   * first; epoch 0 is the spec's. A scheduled switch may take effect after a later one.
   */
  readonly epoch: number;
  /** The fence is the first iteration ≥ this at which every rank knows the switch. */
  readonly notBefore: number;
  readonly plan: ExchangePlan;
  readonly residual: ResidualPolicy;
  /** The prediction that was shown before the switch. */
  readonly foreseen?: Foreseen | undefined;
  /** Limits beyond which the run switches back by itself. */
  readonly guard?: SwitchGuard | undefined;
  /** Reason why a guard made it. */
  readonly why?: string | undefined;
}

/**
 * Names that leave the choice of the collective to the cost model. `auto` uses what was sent
 * and its fill-in, which every run of a spec repeats; `adaptive` also uses measured times,
 * which differ between runs.
 */
const AUTOMATIC = ['auto', 'adaptive'] as const;

export const isAutomatic = (collective: string): boolean =>
  AUTOMATIC.some((name) => name === collective);

export const heedsTimes = (collective: string): boolean => collective === 'adaptive';

/** The method of a spec that names none, which sends gradients uncompressed. */
export const DEFAULT_METHOD = 'none';

/**
 * `exchange` in a spec, and the change that a switch requests: plan keys and the method's
 * parameters side by side, as in `{ method: topk, ratio: 0.01, collective: auto }`. The
 * method's parameters are checked by the agent, which has the method's own schema.
 */
export const exchangeSpecSchema = z.looseObject({
  method: z
    .string()
    .default(DEFAULT_METHOD)
    .describe('How a gradient is compressed')
    .meta({ title: 'Method' }),
  collective: z
    .string()
    .default('auto')
    .describe(
      'How payloads are combined; auto: the collective predicted to be cheapest; adaptive: the cheapest by predictions corrected with measured times',
    )
    .meta({ title: 'Collective' }),
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
          .describe('Method for these tensors; default: that of the other tensors'),
      }),
    )
    .max(100)
    .default([])
    .describe(
      `Methods or parameters for tensors by name; the first match applies, such as [{"match": "*.bias", "method": "${DEFAULT_METHOD}"}]`,
    )
    .meta({ title: 'Layers' }),
  quantizeSums: quantizationSchema
    .optional()
    .describe('Quantise what the collective sends; default: full precision'),
  servers: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Number of ranks that are also servers, for collective: parameter-server; default: 1',
    )
    .meta({ title: 'Servers' }),
  delta: deltaSettingSchema
    .optional()
    .describe(
      'Share of a vector’s elements at which a sparse stream turns dense; auto: the cheapest by the network’s costs; default: 0.5, where both forms take as many bytes',
    ),
  activations: activationPlanSchema
    .optional()
    .describe(
      'Compression of the activations that pipeline stages exchange; default: none',
    )
    .meta({
      needs: [
        {
          key: 'parallelism.pipeline',
          code: 'ACTIVATIONS_MISFIT',
          because: 'no activations are sent because every rank has the whole model',
          next: 'Remove activations, or set parallelism.pipeline.',
        },
      ],
    }),
  residualUnits: z
    .enum(RESIDUAL_UNITS)
    .optional()
    .describe(
      'Whether residuals hold gradients or updates (learning rate times gradient), which differs when the rate changes; default: gradient',
    ),
});

/** Keys of `exchange` that belong to the plan; all others are the method's parameters. */
export const PLAN_KEYS = Object.keys(
  exchangeSpecSchema.shape,
) as readonly (keyof typeof exchangeSpecSchema.shape)[];

export type ExchangeSpec = z.infer<typeof exchangeSpecSchema>;

interface NamedMethod {
  readonly method: string;
  readonly label?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** A plan as stored in records: its parameters are the JSON that the agent wrote. */
export interface NamedPlan extends NamedMethod {
  readonly collective: string;
  readonly bucketBytes: number;
  readonly layers?: readonly (NamedMethod & Pick<LayerPlan, 'match'>)[] | undefined;
  readonly quantizeSums?: Quantization | undefined;
  readonly servers?: number | undefined;
  readonly delta?: DeltaSetting | undefined;
  readonly activations?: ActivationPlan | undefined;
  readonly residualUnits?: ResidualUnits | undefined;
}

/** A plan as written under `exchange`, with every parameter. */
export function planAsExchange(plan: NamedPlan): ExchangeSpec & JsonObject {
  const {
    method,
    parameters,
    collective,
    bucketBytes,
    layers = [],
    quantizeSums,
    servers,
    delta,
    activations,
    residualUnits,
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
    ...(delta === undefined ? {} : { delta }),
    ...(activations === undefined ? {} : { activations }),
    ...(residualUnits === undefined ? {} : { residualUnits }),
  };
}

/**
 * A plan as a switch to it is written, whatever the current plan is: keys that it lacks are
 * removed by name.
 * @param methods the catalogue's
 */
export function planAsChange(
  plan: NamedPlan,
  methods: readonly ScheduledMethod[],
): JsonObject {
  const { layers = [] } = plan;
  const written: JsonObject = planAsExchange({
    ...startedAt(plan, methods),
    layers: layers.map((layer) => startedAt(layer, methods)),
  });
  const {
    activations,
    delta = null,
    quantizeSums = null,
    residualUnits = 'gradient',
  } = plan;
  return {
    ...written,
    quantizeSums,
    delta,
    residualUnits,
    ...(activations === undefined ? {} : { activations }),
  };
}

/** A method with its warm-ups and ramps. */
type ScheduledMethod = Pick<MethodEntry, 'id' | 'schedules'>;

/** Plans in older records omit that warm-ups and ramps started with the run. */
function startedAt<T extends NamedMethod>(
  plan: T,
  methods: readonly ScheduledMethod[],
): T {
  const { schedules = [] } = methods.find(({ id }) => id === plan.method) ?? {};
  const starts = schedules.flatMap(({ iterations, start }) =>
    start === undefined || (plan.parameters[iterations] ?? 0) === 0
      ? []
      : [[start, 0] as const],
  );
  return {
    ...plan,
    parameters: { ...Object.fromEntries(starts), ...plan.parameters },
  };
}

/** A plan in a few words, for markers, lists and buttons: `topk 1 %`, `none`. */
export const planLabel = ({
  label,
  method,
}: Pick<NamedMethod, 'label' | 'method'>): string => label ?? method;

/** A plan as one line of text: its label, and the collective and layers if chosen. */
export function describePlan(
  plan: NamedMethod &
    Pick<
      NamedPlan,
      | 'activations'
      | 'collective'
      | 'delta'
      | 'layers'
      | 'quantizeSums'
      | 'residualUnits'
      | 'servers'
    >,
): string {
  const collective = plan.collective === 'auto' ? '' : ` over ${plan.collective}`;
  const servers =
    plan.servers === undefined ? '' : ` with ${serversText(plan.servers)}`;
  const layers = describeLayers(plan);
  const sums =
    plan.quantizeSums === undefined
      ? ''
      : ` in ${quantizationLabel(plan.quantizeSums)}`;
  const turning = plan.delta === undefined ? '' : `, ${deltaText(plan.delta)}`;
  const passed =
    plan.activations === undefined
      ? ''
      : `, activations ${activationsLabel(plan.activations)}`;
  const kept = plan.residualUnits === 'update' ? ', residual of updates' : '';
  const named = `${planLabel(plan)}${collective}${servers}${sums}${turning}${passed}${kept}`;
  return layers === '' ? named : `${named} [${layers}]`;
}

/** A plan in a few words beside another one: all that is chosen, where their labels would not tell them apart. */
export function labelBeside(plan: NamedPlan, other: NamedPlan): string {
  const label = planLabel(plan);
  const { layers = [] } = plan;
  return layers.length > 0 || label === planLabel(other) ? describePlan(plan) : label;
}

export const serversText = (servers: number): string =>
  servers === 1 ? '1 server' : `${servers} servers`;

/** Describes what a switch changes: the two plans, or, for the same method, what differs. */
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
