/**
 * The start of a warm-up or a ramp: iteration 0, or the fence of the switch that sets it. The
 * fence is not known when the switch is resolved, so its plan refers to it as `{ fence: epoch }`
 * until the ranks, who agree on fences, pass it and put in the iteration.
 *
 * A switch that does not name a warm-up or a ramp keeps its start. So does one that repeats
 * the start, unless it changes the length.
 */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../../../shared/checks/json.ts';
import type { Schedule } from './schedule.ts';

/** The start parameter beside a length. */
export function startParameter(what: string): z.ZodOptional<z.ZodInt> {
  return z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe(
      `Iteration at which the ${what} begins; default: 0, or the fence of the switch that sets it`,
    );
}

/** The inputs for resolving parameters. */
export interface StartSetting {
  /** The method's schedules. */
  readonly schedules: readonly Schedule[];
  /** Values as written, by name. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The source of values that are not written; undefined after a change of method. */
  readonly base: JsonObject | undefined;
  /** The previous values for the same tensors, which may be repeated. */
  readonly old: JsonObject | undefined;
  /** The switch's epoch; undefined at launch. */
  readonly epoch: number | undefined;
}

/** The parameters without future fences, which no schema accepts. */
export function withoutFences(parameters: JsonObject): JsonObject {
  const kept = Object.entries(parameters).filter(
    ([, value]) => fenceIn(value) === undefined,
  );
  return Object.fromEntries(kept);
}

/**
 * Gives every warm-up and ramp with a length its start, and removes the other starts.
 */
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

/** Replaces passed fences by their iterations; returns the same object if there are none. */
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
