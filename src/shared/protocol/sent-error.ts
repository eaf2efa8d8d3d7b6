/** An error that another process reports, as the one that this process would throw. */
import type { z } from 'zod';
import type { ErrorData } from '../errors/errors.ts';
import { errorDataSchema } from '../records/fields.ts';

/**
 * An error of the other side. Its code and its words alone must be there: it says what went
 * wrong, which must not be lost.
 */
export const sentErrorSchema = errorDataSchema
  .extend({
    kind: errorDataSchema.shape.kind.catch('failure'),
    place: errorDataSchema.shape.place.catch(undefined),
    next: errorDataSchema.shape.next.catch(undefined),
    rank: errorDataSchema.shape.rank.catch(undefined),
  })
  .strip() satisfies z.ZodType<ErrorData>;

/**
 * The error that a process tells in a line of JSON; undefined if the line is anything else, or
 * was cut short.
 */
export function toldError(line: string): ErrorData | undefined {
  try {
    return sentErrorSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
