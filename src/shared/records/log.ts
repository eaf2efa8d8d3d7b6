/**
 * A line that a rank's process printed: a library's warning, the stack of a crash. Made by
 * the supervisor, which reads the line at time `at`.
 */
import { z } from 'zod';
import { count } from './fields.ts';
import { NEVER_REPEATED, NO_TABLES, recordKind } from './record-kind.ts';

const logRecordSchema = z.strictObject({
  type: z.literal('log'),
  at: z.number(),
  rank: count,
  /** Stream on which the rank printed it. */
  stream: z.enum(['stdout', 'stderr']),
  /** The line's level, if it states one. */
  level: z.enum(['warning', 'error']).optional(),
  /** The rank's current iteration, as far as the supervisor knew. */
  iteration: count.optional(),
  /** The line without control characters. */
  text: z.string(),
  /** Characters cut off at its end. */
  cut: count.optional(),
  /** Earlier lines of this rank that were dropped because it printed too much. */
  dropped: count.optional(),
});
export type LogRecord = z.infer<typeof logRecordSchema>;

export const logKind = recordKind({
  schema: logRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'lines',
  // `gradwire runs log` prints all of them. A program's are what its user looks for.
  printed: ({ level, rank, text }, { isProgram }) =>
    isProgram
      ? [`rank ${rank}: ${text}`]
      : level === undefined
        ? []
        : [`rank ${rank} printed: ${text}`],
  tables: NO_TABLES,
});
