/**
 * Turns the user's `exchange`, or a requested switch, into an exchange plan: looks up
 * names, validates parameters by the method's schema, and checks the collective against
 * the method's payload. Nothing invalid passes, so no rank ever sees an invalid plan.
 */
import { inputError } from '../../shared/errors/errors.ts';
import {
  exchangeSpecSchema,
  isAutomatic,
  PLAN_KEYS,
  type ExchangePlan,
} from '../../shared/plan/exchange-plan.ts';
import { isKeyOf, type Quantization } from '../../shared/plan/quantization.ts';
import { explainIssue } from '../../shared/spec/experiment-spec.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';
import { assertFits, findCollective } from '../collectives/registry.ts';
import { carriageOf, labelOf, residualOf } from '../methods/method.ts';
import { findMethod } from '../methods/registry.ts';
import { placed } from './placed-errors.ts';
import { withActivations } from './plan-activations.ts';
import { withDelta } from './plan-delta.ts';
import { withQuantization } from './plan-quantization.ts';
import { withResidualUnits } from './plan-residual-units.ts';
import { withServers } from './plan-servers.ts';
import type { PlanSetting } from './plan-setting.ts';
import { refuseCollective, requirePushable } from './pushable-plan.ts';
import { resolveLayers, resolveParameters } from './resolve-parameters.ts';
import { loses } from './tensor-policy.ts';

const planKeys: ReadonlySet<string> = new Set(PLAN_KEYS);

const REMOVABLE: ReadonlySet<string> = new Set([
  'quantizeSums',
  'servers',
  'delta',
  'activations',
  'residualUnits',
]);

/**
 * @param change keys of `exchange`; other keys come from `base`, but the parameters of
 * the method and of layers only if the method stays the same
 * @throws GradwireError `EXCHANGE_INVALID`, `METHOD_UNKNOWN`, `METHOD_PARAMETER_…`,
 * `COLLECTIVE_UNKNOWN`, `COLLECTIVE_MISFIT`, `QUANTIZE_MISFIT`, `SERVERS_MISFIT`,
 * `SERVERS_INVALID`, `DELTA_MISFIT`, `LAYER_UNKNOWN`, `METHOD_NEEDS_PEERS`, `RESIDUAL_UNITS_MISFIT`
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
  const turning = placed(
    () => (base === undefined ? 'exchange.delta' : place),
    () => withDelta(served, change, base),
  );
  const passed = placed(
    () => (base === undefined ? 'exchange.activations' : place),
    () => withActivations(turning, change, base, setting),
  );
  const plan = placed(
    () => (base === undefined ? 'exchange.residualUnits' : place),
    () => withResidualUnits(passed, change, base, setting),
  );
  if (setting.pushes === true) requirePushable(plan);
  return plan;
}

/**
 * `activations.sparsity=0.5` changes a part of the previous plan's value. A part of the other kind
 * of quantisation replaces it.
 */
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
    const before = key === 'activations' ? base?.activations : sumsWith(part, base);
    joined[key] = { ...before, ...(joined[key] ?? {}), [part]: value };
  }
  return joined;
}

/** The previous quantisation of sums, if it has such a key. */
function sumsWith(
  key: string,
  base: ExchangePlan | undefined,
): Quantization | undefined {
  const sums = base?.quantizeSums;
  return sums !== undefined && isKeyOf(sums, key) ? sums : undefined;
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
    // `null` removes quantizeSums and activations, and resets the others to the default.
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
    ...(parsed.data.delta === undefined ? {} : { delta: parsed.data.delta }),
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
  const loss = loses(residualOf(method, own), collective);
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

function pickPlanKeys(base: ExchangePlan | undefined): Record<string, unknown> {
  if (base === undefined) return {};
  const { method, collective, bucketBytes } = base;
  return { method, collective, bucketBytes };
}
