/**
 * A rule over a run's records began to hold, or holds no longer. Made by the process that stores
 * the records (`shared/alerts`), once for each time that it begins.
 */
import { z } from 'zod';
import { count } from './fields.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES } from './record-kind.ts';

const alertRecordSchema = z.strictObject({
  type: z.literal('alert'),
  at: z.number(),
  /** The rule's id. */
  rule: z.string().min(1).max(40),
  /** The rule's title. */
  title: z.string().min(1).max(80),
  /** Whether the rule began to hold, or holds no longer. */
  phase: z.enum(['raised', 'over']),
  /** One sentence with the values. */
  message: z.string(),
  /** Advice for an alert that was raised. */
  next: z.string().optional(),
  rank: count.optional(),
  iteration: count.optional(),
});
export type AlertRecord = z.infer<typeof alertRecordSchema>;

export const alertKind = eventKind({
  schema: alertRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: (alert) => [alertLine(alert)],
  tables: NO_TABLES,
  folds: false,
  text: ({ iteration, message, next, phase, title }) => ({
    tone: phase === 'raised' ? 'warn' : 'plain',
    title: phase === 'raised' ? `Alert: ${title}` : `Alert over: ${title}`,
    text: next === undefined ? message : `${message}. ${next}`,
    ...(iteration === undefined ? {} : { iteration }),
  }),
  summary: ({ phase, rule, title }) => ({ alert: { rule, title, phase } }),
});

/** An alert as a line: `alert: Loss rising: mean loss 2.3 …`. */
export function alertLine({ message, phase, rank, title }: AlertRecord): string {
  const where = rank === undefined || message.includes('rank') ? '' : `rank ${rank}: `;
  return `${phase === 'raised' ? 'alert' : 'alert over'}: ${title}: ${where}${message}`;
}
