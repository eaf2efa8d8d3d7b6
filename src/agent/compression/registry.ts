/** The compression methods, by id. One line each; the order is that of lists and forms. */
import type { MethodEntry } from '../../shared/catalogue.ts';
import { inputError } from '../../shared/errors.ts';
import { explainIssue } from '../../shared/experiment-spec.ts';
import type { JsonObject } from '../../shared/json.ts';
import { nearest } from '../../shared/nearest.ts';
import { a2sgd } from './a2sgd.ts';
import { dct } from './dct.ts';
import { dgc } from './dgc.ts';
import { gaussiank } from './gaussiank.ts';
import type { MethodDefinition } from './method.ts';
import { withChanges } from './nested-parameters.ts';
import { none } from './none.ts';
import { onebit } from './onebit.ts';
import { parameterEntries } from './parameter-entries.ts';
import { powersgd } from './powersgd.ts';
import { qsgd } from './qsgd.ts';
import { randomk } from './randomk.ts';
import { scalecom } from './scalecom.ts';
import { terngrad } from './terngrad.ts';
import { threshold } from './threshold.ts';
import { topk } from './topk.ts';

export const methods: ReadonlyMap<string, MethodDefinition> = byId([
  none,
  topk,
  randomk,
  threshold,
  gaussiank,
  dct,
  dgc,
  scalecom,
  powersgd,
  qsgd,
  terngrad,
  onebit,
  a2sgd,
]);

/** @throws GradwireError `METHOD_UNKNOWN` */
export function findMethod(id: string): MethodDefinition {
  const method = methods.get(id);
  if (method !== undefined) return method;
  const suggestion = nearest(id, methods.keys());
  throw inputError('METHOD_UNKNOWN', `there is no compression method "${id}"`, {
    next:
      suggestion === undefined
        ? `Methods: ${[...methods.keys()].join(', ')}.`
        : `Did you mean "${suggestion}"?`,
  });
}

/**
 * A method's parameters, checked, with defaults filled in. A part of one may be named by
 * itself, as `quantize.bits`.
 * @throws GradwireError `METHOD_PARAMETER_UNKNOWN_KEY`, `METHOD_PARAMETER_INVALID`
 */
export function validateParameters(
  method: MethodDefinition,
  given: Readonly<Record<string, unknown>>,
): JsonObject {
  const raw = withChanges({}, given);
  const parsed = method.parameters.safeParse(raw);
  if (parsed.success) return parsed.data as JsonObject;
  throw explainIssue(method.parameters, raw, parsed.error, {
    code: 'METHOD_PARAMETER',
    place: `method ${method.id}`,
  });
}

/** The methods as the catalogue shows them; which collectives fit is not known here. */
export function describeMethods(): Omit<MethodEntry, 'collectives'>[] {
  return [...methods.values()].map((method) => ({
    id: method.id,
    title: method.title,
    summary: method.summary,
    source: method.source,
    payload: method.payload,
    reducible: method.reducible,
    residual: method.residual !== 'none',
    replicas: method.replicas,
    parameters: parameterEntries(method.parameters),
  }));
}

function byId(
  definitions: readonly MethodDefinition[],
): ReadonlyMap<string, MethodDefinition> {
  return new Map(definitions.map((definition) => [definition.id, definition]));
}
