/**
 * Parameters that have no effect beside others: if the number of levels is given, the
 * bits do not matter. A user who gives both expects both to count, so the pair is refused
 * on input. Files saved with such a pair can still be read.
 */
import { inputError } from '../../shared/errors.ts';
import type { JsonObject, JsonValue } from '../../shared/json.ts';
import type { MethodDefinition } from './method.ts';

/**
 * A parameter at its default does not count as chosen, nor does an inherited one or a
 * pair that was already in force.
 * @param parameters with defaults filled in, as validated
 * @param given the names that the user wrote
 * @param before the values before a change
 * @throws GradwireError `METHOD_PARAMETER_IDLE`
 */
export function refuseIdle(
  method: MethodDefinition,
  parameters: JsonObject,
  given: ReadonlySet<string>,
  before: JsonObject = {},
): void {
  const defaults = method.parameters.parse({}) as JsonObject;
  const same = (values: JsonObject, key: string): boolean =>
    values[key] === parameters[key];
  const pair = method.idle?.find(
    (entry) =>
      given.has(entry.parameter) &&
      !same(defaults, entry.parameter) &&
      entry.when(parameters) &&
      !(same(before, entry.parameter) && same(before, entry.beside)),
  );
  if (pair === undefined) return;
  const { parameter, beside, instead } = pair;
  throw inputError(
    'METHOD_PARAMETER_IDLE',
    `"${parameter}" is ${shown(parameters[parameter])}, which has no effect while ` +
      `"${beside}" is ${shown(parameters[beside])}`,
    {
      place: `method ${method.id}`,
      next: `Give ${instead}, or ${parameter}=${shown(defaults[parameter])}.`,
    },
  );
}

const shown = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
