/**
 * Turns the user's `exchange`, or a requested switch, into an exchange plan: looks up
 * names, validates parameters by the method's schema, and checks the collective against
 * the method's payload. Nothing invalid passes, so no rank ever sees an invalid plan.
 */
import { isDeepStrictEqual } from 'node:util';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import {
  exchangeSpecSchema,
  isAutomatic,
  PLAN_KEYS,
  type ExchangePlan,
  type ExchangeSpec,
  type LayerPlan,
} from '../../shared/plan/exchange-plan.ts';
import { explainIssue } from '../../shared/spec/experiment-spec.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import {
  assertFits,
  assertQuantizes,
  assertServes,
  collectives,
  collectivesFor,
  findCollective,
  quantizingFor,
} from '../collectives/registry.ts';
import { DEFAULT_SERVERS } from '../collectives/server-ranks.ts';
import { refuseIdle } from '../methods/idle-parameters.ts';
import { carriageOf, labelOf, type MethodDefinition } from '../methods/method.ts';
import { withChanges } from '../methods/nested-parameters.ts';
import { requireTensor } from './layer-names.ts';
import { inIterations } from '../methods/policy/passes.ts';
import { withoutFences, withStarts } from '../methods/policy/starts.ts';
import { findMethod, validateParameters } from '../methods/registry.ts';
import { refuseCollective, requirePushable } from './pushable-plan.ts';
import { loses } from './tensor-policy.ts';

/** An optimiser that keeps its momentum. */
export interface MomentumOwner {
  readonly name: string;
  /** The next step for the user. */
  readonly next: string;
}

/** Reason that something cannot be, and what to do about it. */
export interface Refusal {
  readonly message: string;
  readonly next: string;
}

/** The run that a plan is for, in as far as it is known. */
export interface PlanSetting {
  /** Names of the model's tensors; a pattern must match one of them. */
  readonly tensors?: readonly string[] | undefined;
  /** Iterations of a pass over the data, for `warmupEpochs` and similar parameters. */
  readonly iterationsPerPass?: number | undefined;
  /** The optimiser's momentum, for methods that apply it themselves. */
  readonly momentum?: number | undefined;
  /** An optimiser that cannot leave its momentum to the method. */
  readonly ownMomentum?: MomentumOwner | undefined;
  /** Whether the model is split into stages, which send each other activations. */
  readonly isPipeline?: boolean | undefined;
  /**
   * Weight decay λ of the optimiser after the exchange, for methods that move few weights.
   */
  readonly weightDecay?: number | undefined;
  /** Reason that no residual can be kept in units of updates, if none can. */
  readonly noUpdates?: Refusal | undefined;
  /** P, the number of ranks: servers are some of them. */
  readonly ranks?: number | undefined;
  /** Whether each rank pushes to servers by itself, and no collective carries anything. */
  readonly pushes?: boolean | undefined;
  /** The switch's epoch: its warm-ups and ramps begin at its fence. */
  readonly epoch?: number | undefined;
}

const planKeys: ReadonlySet<string> = new Set(PLAN_KEYS);

const REMOVABLE: ReadonlySet<string> = new Set([
  'quantizeSums',
  'servers',
  'activations',
  'residualUnits',
]);

/**
 * @param change keys of `exchange`; other keys come from `base`, but the parameters of
 * the method and of layers only if the method stays the same
 * @throws GradwireError `EXCHANGE_INVALID`, `METHOD_UNKNOWN`, `METHOD_PARAMETER_…`,
 * `COLLECTIVE_UNKNOWN`, `COLLECTIVE_MISFIT`, `QUANTIZE_MISFIT`, `SERVERS_MISFIT`,
 * `SERVERS_INVALID`, `LAYER_UNKNOWN`, `METHOD_NEEDS_PEERS`, `RESIDUAL_UNITS_MISFIT`
 */
export function resolvePlan(
  asked: Readonly<Record<string, unknown>>,
  base?: ExchangePlan,
  setting: PlanSetting = {},
): ExchangePlan {
  const change = withPartsJoined(asked, base);
  if (setting.pushes === true) refuseCollective(change);
  // Registries do not know where a name was written: here it is known.
  const place = base === undefined ? 'exchange' : 'switch';
  const resolved = placed(
    (known = place) => known,
    () => withQuantization(resolve(change, base, setting), change, base),
  );
  const served = placed(
    () => (base === undefined ? 'exchange.servers' : place),
    () => withServers(resolved, change, base, setting),
  );
  const passed = placed(
    () => (base === undefined ? 'exchange.activations' : place),
    () => withActivations(served, change, base, setting),
  );
  const plan = placed(
    () => (base === undefined ? 'exchange.residualUnits' : place),
    () => withResidualUnits(passed, change, base, setting),
  );
  if (setting.pushes === true) requirePushable(plan);
  return plan;
}

/** `activations.sparsity=0.5` changes a part of the previous plan's value. */
function withPartsJoined(
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
): Record<string, unknown> {
  const joined: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(change)) {
    const [key, part] = path.split('.');
    if (part === undefined || (key !== 'activations' && key !== 'quantizeSums')) {
      joined[path] = value;
      continue;
    }
    joined[key] = { ...base?.[key], ...(joined[key] ?? {}), [part]: value };
  }
  return joined;
}

function resolve(
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  setting: PlanSetting,
): ExchangePlan {
  if (base !== undefined && Object.keys(change).length === 0) {
    throw inputError('SWITCH_EMPTY', 'the switch changes nothing', {
      next: 'Give a method, a parameter or a collective, such as method=topk.',
    });
  }
  const given: Record<string, unknown> = {};
  const parameters: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(change)) {
    // `null` removes quantizeSums and activations, and resets servers to the default.
    if (REMOVABLE.has(key) && value === null) continue;
    (planKeys.has(key) ? given : parameters)[key] = value;
  }
  const parsed = exchangeSpecSchema.safeParse(
    { ...pickPlanKeys(base), ...given },
    INTERPRETED,
  );
  if (!parsed.success) {
    throw explainIssue(exchangeSpecSchema, given, parsed.error, {
      code: 'EXCHANGE',
      place: 'exchange',
    });
  }
  const method = findMethod(parsed.data.method);
  const kept = base?.method === method.id ? base : undefined;
  const before = kept?.parameters;
  const own = resolveParameters(method, before, before, parameters, setting);
  const layers =
    given.layers === undefined && kept !== undefined
      ? kept.layers
      : resolveLayers(
          parsed.data.layers,
          { method: method.id, parameters: own },
          base?.layers ?? [],
          setting,
        );
  const resolved: ExchangePlan = {
    method: method.id,
    label: labelOf(method, own),
    parameters: own,
    collective: parsed.data.collective,
    bucketBytes: parsed.data.bucketBytes,
    ...(layers === undefined || layers.length === 0 ? {} : { layers }),
    ...(parsed.data.quantizeSums === undefined
      ? {}
      : { quantizeSums: parsed.data.quantizeSums }),
    ...(parsed.data.servers === undefined ? {} : { servers: parsed.data.servers }),
    ...(parsed.data.activations === undefined
      ? {}
      : { activations: parsed.data.activations }),
    ...(parsed.data.residualUnits === undefined
      ? {}
      : { residualUnits: parsed.data.residualUnits }),
  };
  if (isAutomatic(resolved.collective)) return resolved;
  const collective = findCollective(resolved.collective);
  const chosenByUser = given.collective !== undefined;
  const { payload, reducible } = carriageOf(method, resolved.parameters);
  const loss = loses(method, collective);
  if (reducible && !loss && collective.takes.includes(payload)) return resolved;
  // The previous method's collective does not fit this one, and the user did not choose
  // it.
  if (!chosenByUser) return { ...resolved, collective: 'auto' };
  if (!reducible) {
    throw inputError(
      'COLLECTIVE_MISFIT',
      `payloads of ${method.id} are gathered, not summed, so ${collective.id} cannot be used`,
      {
        next:
          collective.quantizes === true
            ? 'Use collective=auto, or method=none with quantizeSums.bits=4.'
            : 'Use collective=auto.',
      },
    );
  }
  assertFits(collective, payload, method.id);
  if (loss) {
    const message = `${collective.id} leaves entries out, but ${method.id} keeps no residual`;
    throw inputError('COLLECTIVE_MISFIT', `${message} to send them later`, {
      next: 'Use collective=auto.',
    });
  }
  return resolved;
}

/**
 * The plan with its quantisation, and with a collective that applies it. The previous
 * plan's quantisation continues while the method stays and the collective supports it.
 */
function withQuantization(
  { quantizeSums: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
): ExchangePlan {
  const goesOn = base?.method === plan.method && change.quantizeSums !== null;
  const kept = goesOn ? base.quantizeSums : undefined;
  const quantizeSums = asked ?? kept;
  if (quantizeSums === undefined) return plan;
  // The app's panel repeats current values, which is not a choice.
  const chosenByUser =
    asked !== undefined && !isDeepStrictEqual(asked, base?.quantizeSums);
  const method = findMethod(plan.method);
  const { payload, reducible } = carriageOf(method, plan.parameters);
  const able =
    reducible && method.values === undefined
      ? collectivesFor(payload).filter(({ quantizes }) => quantizes === true)
      : [];
  if (able.some(({ id }) => id === plan.collective)) return { ...plan, quantizeSums };
  if (isAutomatic(plan.collective) && able.length > 0) {
    return { ...plan, collective: quantizingFor(payload).id, quantizeSums };
  }
  if (!chosenByUser) return plan;
  if (!isAutomatic(plan.collective)) assertQuantizes(findCollective(plan.collective));
  throw inputError(
    'QUANTIZE_MISFIT',
    `the collective cannot quantise what ${method.id} sends`,
    {
      next: 'Remove quantizeSums, or use a method whose payload is dense or sparse, of f32.',
    },
  );
}

/**
 * The plan with the number of its servers, where its collective has some. If no number is
 * requested, the previous plan's number is kept.
 */
function withServers(
  { servers: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { ranks }: PlanSetting,
): ExchangePlan {
  if (collectives.get(plan.collective)?.hasServers === true) {
    const kept = change.servers === null ? undefined : base?.servers;
    const servers = asked ?? kept ?? DEFAULT_SERVERS;
    assertServes(plan.collective, servers, ranks);
    return { ...plan, servers };
  }
  // The app's panel repeats current values, which is not a choice.
  if (asked !== undefined && asked !== base?.servers) {
    assertServes(plan.collective, asked, ranks);
  }
  return plan;
}

/**
 * Adds the plan of activations. What the plan before left out of them continues, whatever the
 * method is.
 */
function withActivations(
  { activations: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { isPipeline = false }: PlanSetting,
): ExchangePlan {
  const kept = change.activations === null ? undefined : base?.activations;
  if (change.activations !== undefined && !isPipeline) {
    throw inputError(
      'ACTIVATIONS_MISFIT',
      'no activations are sent because every rank has the whole model',
      { next: 'Remove activations, or set parallelism.pipeline.' },
    );
  }
  const activations = asked ?? kept;
  const passesAll = activations === undefined || activations.method === 'none';
  return passesAll ? plan : { ...plan, activations };
}

/**
 * The plan with the units of its residual, unless they are the default. The previous
 * plan's units carry over as long as the method supports them.
 */
function withResidualUnits(
  { residualUnits: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { noUpdates }: PlanSetting,
): ExchangePlan {
  const kept = change.residualUnits === null ? undefined : base?.residualUnits;
  const residualUnits = asked ?? kept;
  if (residualUnits !== 'update') return plan;
  const refusal = noUpdates ?? withoutUpdates(plan);
  if (refusal === undefined) return { ...plan, residualUnits };
  // The app's panel repeats current values: that alone is not a choice.
  if (asked === undefined || asked === base?.residualUnits) return plan;
  const { message, next } = refusal;
  throw inputError('RESIDUAL_UNITS_MISFIT', `residualUnits: update, but ${message}`, {
    next,
  });
}

/** Explains why the methods of a plan keep no updates. */
function withoutUpdates({ layers = [], method }: ExchangePlan): Refusal | undefined {
  const methods = [method, ...layers.map((layer) => layer.method)].map(findMethod);
  const other = methods.find(({ residual }) => residual === 'velocity');
  if (other !== undefined) {
    return {
      message: `${other.id} keeps sums of velocities, not of gradients`,
      next: 'Remove residualUnits, or use another method.',
    };
  }
  if (methods.some(({ residual }) => residual === 'gradient')) return undefined;
  return {
    message: `method ${method} keeps no residual`,
    next: 'Remove residualUnits, or use a method with error feedback, such as topk.',
  };
}

function resolveParameters(
  method: MethodDefinition,
  base: JsonObject | undefined,
  old: JsonObject | undefined,
  given: Readonly<Record<string, unknown>>,
  { epoch, iterationsPerPass, momentum, ownMomentum, weightDecay = 0 }: PlanSetting,
): JsonObject {
  if (method.movesPart === true && weightDecay > 0) {
    throw inputError(
      'METHOD_OPTIMIZER_MISFIT',
      `${method.id} moves a few weights in each step, but a weight decay of ${weightDecay} moves ` +
        'all of them: the penalty would be larger than weightDecay says',
      {
        place: 'exchange.method',
        next: 'Set optimizer.weightDecay to 0. Your own model can include the penalty in its objective.',
      },
    );
  }
  if (method.replacesMomentum !== undefined && ownMomentum !== undefined) {
    throw inputError(
      'METHOD_OPTIMIZER_MISFIT',
      `${method.id} already contains momentum, and ${ownMomentum.name} keeps its own`,
      {
        place: 'exchange.method',
        next: ownMomentum.next,
      },
    );
  }
  const { replacesMomentum, schedules = [] } = method;
  const written = withChanges(withoutFences(base ?? {}), given);
  const valid = validateParameters(method, written);
  refuseIdle(method, valid, new Set(Object.keys(given)), base);
  const own = replacesMomentum !== undefined && momentum !== undefined;
  const resolved = {
    ...(own ? { [replacesMomentum]: momentum } : {}),
    ...inIterations(valid, given, iterationsPerPass, schedules),
  };
  return withStarts(resolved, { schedules, given, base, old, epoch });
}

/** A layer of the plan's method has its parameters, except for those that it names. */
function resolveLayers(
  written: ExchangeSpec['layers'],
  base: Pick<ExchangePlan, 'method' | 'parameters'>,
  before: readonly LayerPlan[],
  setting: PlanSetting,
): readonly LayerPlan[] {
  return written.map(({ match, method: id = base.method, ...given }) => {
    const place = `layers: ${match}`;
    const where = (known?: string): string =>
      known === undefined ? place : `${place}, ${known}`;
    return placed(where, () => {
      const { tensors } = setting;
      if (tensors !== undefined) requireTensor(match, tensors);
      const method = findMethod(id);
      const inherited = method.id === base.method ? base.parameters : undefined;
      const old = before.find(
        (layer) => layer.match === match && layer.method === method.id,
      );
      const parameters = resolveParameters(
        method,
        inherited,
        old?.parameters,
        given,
        setting,
      );
      const label = labelOf(method, parameters);
      return { match, method: method.id, label, parameters };
    });
  });
}

/** Ids of the collectives that can carry a method's payload. */
export function collectivesOfMethod(id: string): readonly string[] {
  const method = findMethod(id);
  const fitting = method.reducible ? collectivesFor(method.payload) : [];
  return fitting
    .filter((collective) => !loses(method, collective))
    .map((collective) => collective.id);
}

function pickPlanKeys(base: ExchangePlan | undefined): Record<string, unknown> {
  if (base === undefined) return {};
  const { method, collective, bucketBytes } = base;
  return { method, collective, bucketBytes };
}

/** Adds the place where the fault was written to errors. */
function placed<T>(where: (known: string | undefined) => string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    throw new GradwireError({ ...error.toData(), place: where(error.place) });
  }
}
