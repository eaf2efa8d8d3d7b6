/**
 * What the user wrote under `exchange`, or asked for in a switch, as an exchange plan:
 * names looked up, parameters validated by the method's own schema, the collective
 * checked against the method's payload. Nothing invalid passes here, so no rank ever
 * sees an invalid plan.
 */
import { GradwireError, inputError } from '../../shared/errors.ts';
import {
  exchangeSpecSchema,
  PLAN_KEYS,
  type ExchangePlan,
} from '../../shared/exchange-plan.ts';
import { explainIssue } from '../../shared/experiment-spec.ts';
import type { JsonObject } from '../../shared/json.ts';
import { assertFits, collectivesFor, findCollective } from '../collectives/registry.ts';
import { carriageOf } from '../compression/method.ts';
import { findMethod, validateParameters } from '../compression/registry.ts';

const planKeys: ReadonlySet<string> = new Set(PLAN_KEYS);

/**
 * @param change keys of `exchange`; what is not named is taken from `base`, a method's
 * parameters only where the method stays the same
 * @throws GradwireError `EXCHANGE_INVALID`, `METHOD_UNKNOWN`, `METHOD_PARAMETER_…`,
 * `COLLECTIVE_UNKNOWN`, `COLLECTIVE_MISFIT`
 */
export function resolvePlan(
  change: Readonly<Record<string, unknown>>,
  base?: ExchangePlan,
): ExchangePlan {
  try {
    return resolve(change, base);
  } catch (error) {
    if (!(error instanceof GradwireError) || error.place !== undefined) throw error;
    // Registries do not know where a name was written: here it is known.
    const place = base === undefined ? 'exchange' : 'switch';
    throw new GradwireError({ ...error.toData(), place });
  }
}

function resolve(
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
): ExchangePlan {
  if (base !== undefined && Object.keys(change).length === 0) {
    throw inputError('SWITCH_EMPTY', 'the switch changes nothing', {
      next: 'Name a method, a parameter or a collective, as in method=topk.',
    });
  }
  const given: Record<string, unknown> = {};
  const parameters: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(change)) {
    (planKeys.has(key) ? given : parameters)[key] = value;
  }
  const parsed = exchangeSpecSchema.safeParse({ ...pickPlanKeys(base), ...given });
  if (!parsed.success) {
    throw explainIssue(exchangeSpecSchema, given, parsed.error, {
      code: 'EXCHANGE',
      place: 'exchange',
    });
  }
  const method = findMethod(parsed.data.method);
  const kept = base?.method === method.id ? base.parameters : {};
  const resolved: ExchangePlan = {
    method: method.id,
    parameters: validateParameters(method, { ...kept, ...parameters }) as JsonObject,
    collective: parsed.data.collective,
    bucketBytes: parsed.data.bucketBytes,
  };
  if (resolved.collective === 'auto') return resolved;
  const collective = findCollective(resolved.collective);
  const chosenByUser = given.collective !== undefined;
  const { payload, reducible } = carriageOf(method, resolved.parameters);
  if (reducible && collective.takes.includes(payload)) return resolved;
  // A collective that the last method used and this one cannot: not the user's choice.
  if (!chosenByUser) return { ...resolved, collective: 'auto' };
  if (!reducible) {
    throw inputError(
      'COLLECTIVE_MISFIT',
      `${method.id} is gathered, not reduced: ${collective.id} cannot carry it`,
      { next: 'Use collective=auto.' },
    );
  }
  assertFits(collective, payload, method.id);
  return resolved;
}

/** Ids of the collectives that can carry a method's payload. */
export function collectivesOfMethod(id: string): readonly string[] {
  const method = findMethod(id);
  return method.reducible ? collectivesFor(method.payload).map(({ id }) => id) : [];
}

function pickPlanKeys(base: ExchangePlan | undefined): Record<string, unknown> {
  if (base === undefined) return {};
  return Object.fromEntries(PLAN_KEYS.map((key) => [key, base[key]]));
}
