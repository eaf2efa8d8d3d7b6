/**
 * The compression methods, by id. Each of ours has a line; other modules register theirs,
 * in every process that needs them. Lists and forms use this order.
 */
import type { z } from 'zod';
import type { MethodEntry, ParameterEntry } from '../../shared/catalogue/catalogue.ts';
import { inputError } from '../../shared/errors/errors.ts';
import { PLAN_KEYS } from '../../shared/plan/exchange-plan.ts';
import { explainIssue } from '../../shared/spec/experiment-spec.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';
import type { JsonObject } from '../../shared/checks/json.ts';
import { nearest } from '../../shared/words/nearest.ts';
import {
  invalidDefinition,
  register,
  type RegistryKind,
} from '../../shared/catalogue/registry.ts';
import { a2sgd } from './a2sgd.ts';
import { bf16 } from './bf16.ts';
import { blockcd } from './blockcd.ts';
import { dct } from './dct.ts';
import { dgc } from './dgc.ts';
import { fp16 } from './fp16.ts';
import { fp8 } from './fp8.ts';
import { gaussiank } from './gaussiank.ts';
import type { MethodDefinition } from './method.ts';
import { withChanges } from './nested-parameters.ts';
import { none } from './none.ts';
import { nonzero } from './nonzero.ts';
import { onebit } from './onebit.ts';
import { parameterEntries } from './parameter-entries.ts';
import { powersgd } from './powersgd.ts';
import { qgd } from './qgd.ts';
import { qsgd } from './qsgd.ts';
import { randomk } from './randomk.ts';
import { scalecom } from './scalecom.ts';
import { terngrad } from './terngrad.ts';
import { threshold } from './threshold.ts';
import { topk } from './topk.ts';

const known = byId([
  none,
  bf16,
  fp16,
  fp8,
  topk,
  randomk,
  threshold,
  nonzero,
  blockcd,
  gaussiank,
  dct,
  dgc,
  scalecom,
  powersgd,
  qsgd,
  terngrad,
  qgd,
  onebit,
  a2sgd,
]);
export const methods: ReadonlyMap<string, MethodDefinition> = known;

/** Sends tensors that a plan leaves uncompressed. */
export const uncompressed: MethodDefinition = none;

const KIND: RegistryKind = { code: 'METHOD', noun: 'compression method' };
/** Keys that stand beside parameters in specs, layers and switches. */
const TAKEN: ReadonlySet<string> = new Set([...PLAN_KEYS, 'match', 'residual']);

/**
 * Registers a method in this process.
 * @throws GradwireError `METHOD_DUPLICATE`; `METHOD_INVALID` for parameters that cannot be
 * written beside the plan's keys, shown in a form or left out
 */
export function registerMethod<Schema extends z.ZodObject>(
  definition: MethodDefinition<Schema>,
): void {
  const { id, parameters } = definition;
  const clash = Object.keys(parameters.shape).find((name) => TAKEN.has(name));
  if (clash !== undefined) {
    throw invalidDefinition(KIND, id, `its parameter "${clash}" has a reserved name`);
  }
  const bare = shownEntries(id, parameters).find(
    ({ description }) => description === '',
  );
  if (bare !== undefined) {
    throw invalidDefinition(KIND, id, `its parameter "${bare.key}" is not described`);
  }
  if (!parameters.safeParse({}, INTERPRETED).success) {
    throw invalidDefinition(KIND, id, 'a parameter has no default');
  }
  register<MethodDefinition>(known, definition, KIND);
}

/** @throws GradwireError `METHOD_UNKNOWN` */
export function findMethod(id: string): MethodDefinition {
  const method = methods.get(id);
  if (method !== undefined) return method;
  // Programs may give anything.
  const suggestion = nearest(String(id), methods.keys());
  throw inputError('METHOD_UNKNOWN', `there is no compression method "${id}"`, {
    next:
      suggestion === undefined
        ? `Methods: ${[...methods.keys()].join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}

/**
 * A method's parameters, checked, with defaults filled in. A part of one may be named
 * alone, as in `quantize.bits`.
 * @throws GradwireError `METHOD_PARAMETER_UNKNOWN_KEY`, `METHOD_PARAMETER_INVALID`
 */
export function validateParameters(
  method: MethodDefinition,
  given: Readonly<Record<string, unknown>>,
): JsonObject {
  const raw = withChanges({}, given);
  const parsed = method.parameters.safeParse(raw, INTERPRETED);
  if (parsed.success) return parsed.data as JsonObject;
  throw explainIssue(method.parameters, raw, parsed.error, {
    code: 'METHOD_PARAMETER',
    place: `method ${method.id}`,
  });
}

/**
 * The methods for the catalogue, without the collectives that fit them, which are not
 * known here.
 */
export function describeMethods(): Omit<MethodEntry, 'collectives'>[] {
  return [...methods.values()].map((method) => ({
    id: method.id,
    title: method.title,
    summary: method.summary,
    source: method.source,
    suits: method.suits,
    payload: method.payload,
    reducible: method.reducible,
    uncompressed: method.uncompressed,
    invitation: method.invitation as JsonObject | undefined,
    schedules: method.schedules?.map(({ iterations, start }) => ({
      iterations,
      start,
    })),
    apartBelow: method.apartBelow,
    residual: method.residual !== 'none',
    residualOf: method.residual,
    residualIf: method.residualIf,
    replicas: method.replicas,
    parameters: parameterEntries(method.parameters),
  }));
}

/** @throws GradwireError `METHOD_INVALID` if a form cannot show them */
function shownEntries(id: string, parameters: z.ZodObject): readonly ParameterEntry[] {
  try {
    return parameterEntries(parameters);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalidDefinition(KIND, id, why);
  }
}

function byId(definitions: readonly MethodDefinition[]): Map<string, MethodDefinition> {
  return new Map(definitions.map((definition) => [definition.id, definition]));
}
