/**
 * Where a warm-up or a ramp begins: at iteration 0, or, where a switch gives it, at the
 * switch's fence. A fence is not known when the switch is resolved, so its plan says whose
 * fence it is, `{ fence: epoch }`, until the ranks pass it: they agree on fences, and put the
 * iteration in its place.
 *
 * A switch that does not name a warm-up or a ramp leaves it where it began. One that repeats
 * where it began leaves it as well, unless it changes the length.
 */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../shared/json.ts';
import type { Schedule } from './schedule.ts';

/** The parameter beside a length. */
export function startParameter(what: string): z.ZodOptional<z.ZodInt> {
  return z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe(`Iteration at which the ${what} begins [0, or the fence of its switch]`);
}

/** What parameters are resolved from. */
export interface StartSetting {
  /** The method's. */
  readonly schedules: readonly Schedule[];
  /** As written, by name. */
  readonly given: Readonly<Record<string, unknown>>;
  /** What is taken from where nothing is written; undefined: another method's. */
  readonly base: JsonObject | undefined;
  /** Those that held for the same tensors before, which may be repeated. */
  readonly old: JsonObject | undefined;
  /** The switch's; undefined at launch. */
  readonly epoch: number | undefined;
}

/** Without fences that are to come, which no schema knows. */
export function withoutFences(parameters: JsonObject): JsonObject {
  const kept = Object.entries(parameters).filter(
    ([, value]) => fenceIn(value) === undefined,
  );
  return Object.fromEntries(kept);
}

/** Every warm-up and ramp of some length has its start, the others have none. */
export function withStarts(parameters: JsonObject, setting: StartSetting): JsonObject {
  const { schedules, given, base, old, epoch } = setting;
  const result = { ...parameters };
  for (const { start, iterations: length, epochs, others = [] } of schedules) {
    if (start === undefined) continue;
    const names = [length, epochs, ...others];
    const iterations = parameters[length];
    Reflect.deleteProperty(result, start);
    if (typeof iterations !== 'number' || iterations === 0) continue;
    const asked = given[start] === undefined ? undefined : parameters[start];
    const changes =
      old !== undefined && names.some((name) => parameters[name] !== old[name]);
    const isNew = base === undefined || names.some((name) => given[name] !== undefined);
    const begins = asked === undefined ? isNew : changes && asked === old[start];
    result[start] =
      begins && epoch !== undefined ? { fence: epoch } : (asked ?? base?.[start] ?? 0);
  }
  return result;
}

/** Fences that have been passed become their iterations; the same object if there are none. */
export function settled(
  parameters: JsonObject,
  fenceOf: (epoch: number) => number | undefined,
): JsonObject {
  let result = parameters;
  for (const [name, value] of Object.entries(parameters)) {
    const epoch = fenceIn(value);
    const iteration = epoch === undefined ? undefined : fenceOf(epoch);
    if (iteration !== undefined) result = { ...result, [name]: iteration };
  }
  return result;
}

function fenceIn(start: JsonValue | undefined): number | undefined {
  if (typeof start !== 'object' || start === null || Array.isArray(start)) return;
  const { fence } = start as JsonObject;
  return typeof fence === 'number' ? fence : undefined;
}
