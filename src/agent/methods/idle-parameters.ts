/**
 * Parameters that have no effect beside others: if the number of levels is given, the
 * bits do not matter. A user who gives both expects both to count, so the pair is refused
 * on input. Files saved with such a pair can still be read.
 */
import { inputError } from '../../shared/errors/errors.ts';
import { INTERPRETED } from '../../shared/checks/interpreted.ts';
import type { JsonObject, JsonValue } from '../../shared/checks/json.ts';
import type { IdleParameter, MethodDefinition } from './method.ts';
import type { Schedule } from './policy/schedule.ts';

/**
 * A parameter at its default does not count as chosen, nor does an inherited one or one that
 * repeats the value in force, as the app's panel does. A part is named `quantize.bucket`.
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
  const defaults = method.parameters.parse({}, INTERPRETED) as JsonObject;
  const same = (values: JsonObject, key: string): boolean =>
    valueOf(values, key) === valueOf(parameters, key);
  const pairs = [
    ...(method.idle ?? []),
    ...(method.schedules ?? []).flatMap(withoutLength),
  ];
  const pair = pairs.find(
    (entry) =>
      (given.has(entry.parameter) || given.has(entry.parameter.split('.')[0]!)) &&
      !same(defaults, entry.parameter) &&
      entry.when(parameters) &&
      !same(before, entry.parameter),
  );
  if (pair === undefined) return;
  const { parameter, beside, instead } = pair;
  const usual = valueOf(defaults, parameter);
  const without =
    usual === undefined ? `remove "${parameter}"` : `${parameter}=${shown(usual)}`;
  throw inputError(
    'METHOD_PARAMETER_IDLE',
    `"${parameter}" is ${shown(valueOf(parameters, parameter))}, which has no effect ` +
      `while "${beside}" is ${shown(valueOf(parameters, beside))}`,
    { place: `method ${method.id}`, next: `Give ${instead}, or ${without}.` },
  );
}

/** The start and the shape of a warm-up or ramp do nothing if it has no length. */
function withoutLength({
  iterations,
  epochs,
  start,
  others = [],
}: Schedule): readonly IdleParameter<JsonObject>[] {
  const shape = start === undefined ? others : [start, ...others];
  return shape.map((parameter) => ({
    parameter,
    beside: iterations,
    when: (parameters) => parameters[iterations] === 0 && parameters[epochs] === 0,
    instead: `${iterations} or ${epochs}`,
  }));
}

/** A parameter, or a part of one. */
function valueOf(values: JsonObject, name: string): JsonValue | undefined {
  const [key, part] = name.split('.') as [string, string?];
  const value = values[key];
  return part === undefined ? value : (value as JsonObject | undefined)?.[part];
}

const shown = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value);
