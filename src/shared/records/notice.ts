/** Something worth knowing that ends nothing. Made by a rank or the supervisor. */
import { z } from 'zod';
import type { ErrorCode } from '../codes/error-code.ts';
import { count, time } from './fields.ts';
import { eventKind, NO_TABLES, unchanged } from './record-kind.ts';

/** Times of an exchange that `COMPRESSION_DOES_NOT_PAY` compares, in milliseconds. */
const comparedExchangesSchema = z.strictObject({
  /** Milliseconds of an exchange with compression, compressing included. */
  compressed: time,
  /** Milliseconds of one without. */
  uncompressed: time,
  /** Whether one without was measured in this run; otherwise the cost model predicts it. */
  measured: z.boolean(),
});
export type ComparedExchanges = z.infer<typeof comparedExchangesSchema>;

const noticeRecordSchema = z.strictObject({
  type: z.literal('notice'),
  at: z.number(),
  /** Whether it is only worth knowing, or may need something to be done. */
  level: z.enum(['info', 'warning']),
  rank: count.optional(),
  /** Ranks that it is about, where the supervisor made it. */
  ranks: z.array(count).readonly().optional(),
  /** Ranks whose programs it is about, likewise. */
  programs: z.array(count).readonly().optional(),
  /** A code that docs/reference/errors.md explains. */
  code: z.string(),
  /** One sentence with the values. */
  message: z.string(),
  /** The times that it compares, if it is about compression; missing in records of earlier versions. */
  exchange: comparedExchangesSchema.optional(),
});
export type NoticeRecord = z.infer<typeof noticeRecordSchema>;

export const noticeKind = eventKind({
  schema: noticeRecordSchema,
  repetition: {
    by: 'name',
    name: ({ code, message, rank }) => `${rank ?? ''} ${code} ${message}`,
    untilNew: true,
  },
  thinning: 'measures',
  printed: ({ code, level, message, rank }) => {
    if (level === 'info') return CHOICES.has(code) ? [message] : [];
    const who = rank === undefined ? '' : `rank ${rank}: `;
    return [`warning: ${who}${message}`];
  },
  tables: NO_TABLES,
  folds: false,
  text: ({ level, message, rank }, names) => ({
    tone: level === 'warning' ? 'warn' : 'plain',
    title: rank === undefined ? 'Notice' : `Notice from ${names.rank(rank)}`,
    text: message,
  }),
  summary: unchanged,
});

/**
 * Codes of notices that say what was chosen, by `auto`, in place of what the spec says, or of
 * a machine's addresses; or what the user is to do now.
 */
const CHOICES: ReadonlySet<string> = new Set<ErrorCode>([
  'COLLECTIVE_CHOSEN',
  'DELTA_CHOSEN',
  'COLLECTIVE_CHANGED',
  'MOMENTUM_REPLACED',
  'PROGRAM_AWAITED',
  'PEER_ADDRESS',
]);

/** A notice without the time and the rank of its record. */
export type Notice = Pick<
  NoticeRecord,
  'exchange' | 'level' | 'message' | 'programs' | 'ranks'
> & {
  readonly code: ErrorCode;
};
