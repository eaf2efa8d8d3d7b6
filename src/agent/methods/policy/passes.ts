/**
 * Lengths in passes over the data, for parameters that also exist in iterations. A
 * method counts iterations only: passes are converted where a plan is resolved, which
 * knows the run.
 */
import { z } from 'zod';
import { inputError } from '../../../shared/errors/errors.ts';
import type { JsonObject } from '../../../shared/checks/json.ts';
import type { Schedule } from './schedule.ts';

/** The parameter in passes, beside the one in iterations. */
export function passesParameter(instead: string): z.ZodDefault<z.ZodNumber> {
  return z
    .number()
    .min(0)
    .max(1_000_000)
    .default(0)
    .describe(`The same length in passes over the data; 0: ${instead} applies`);
}

/**
 * Parameters with every length in iterations, rounded to whole ones.
 * @param given the parameters as written, to detect that both were given
 * @param iterationsPerPass undefined if the run has no passes over data
 * @param schedules the method's
 * @throws GradwireError `METHOD_PARAMETER_INVALID`
 */
export function inIterations(
  parameters: JsonObject,
  given: Readonly<Record<string, unknown>>,
  iterationsPerPass: number | undefined,
  schedules: readonly Schedule[] | undefined = [],
): JsonObject {
  const result = { ...parameters };
  for (const { epochs, iterations } of schedules) {
    const length = parameters[epochs];
    if (typeof length !== 'number' || length === 0) continue;
    const other = given[iterations];
    if (typeof other === 'number' && other > 0) {
      throw inputError(
        'METHOD_PARAMETER_INVALID',
        `"${epochs}" is ${length} and "${iterations}" is ${other}`,
        { next: 'Use only one of them.' },
      );
    }
    if (iterationsPerPass === undefined) {
      throw inputError(
        'METHOD_PARAMETER_INVALID',
        `"${epochs}" is ${length}, but without a data set there are no passes over the data`,
        { next: `Give "${iterations}".` },
      );
    }
    result[iterations] = Math.round(length * iterationsPerPass);
    result[epochs] = 0;
  }
  return result;
}
