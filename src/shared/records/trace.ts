/** A rank's timeline of one iteration that is traced. Made by the rank. */
import { z } from 'zod';
import { count } from './fields.ts';
import { PHASES } from './phases.ts';
import { NO_TABLES, recordKind, unprinted } from './record-kind.ts';

/**
 * Most spans of a record, and most messages; the rest are only counted. A ring of 16 ranks has 6,400
 * and 3,000 for 50 buckets; this number takes 2.5 MB at most, and so fits into a reply.
 */
export const MOST_SPANS = 20_000;

/**
 * The thread of the averages that a program makes by itself. Its messages are dependences: no sum
 * ends before each rank has handed over its bucket.
 */
export const NETWORK_THREAD = 'network';

/** No bucket, or no peer. */
const NONE = -1;
const orNone = z.int().min(NONE);
const nanoseconds = z.int();

/** One phase of a thread: [thread, phase, bucket, awaited rank, start, duration, 1 if hidden]. */
const spanSchema = z.tuple([
  count,
  z.enum(PHASES),
  orNone,
  orNone,
  nanoseconds,
  z.int().min(0),
  z.literal([0, 1]),
]);

/**
 * A message: [1 if received, peer, bucket, stream, exchange on that stream, bytes, moment at which
 * it was handed to the transport or taken from it]. Both ends number the messages of an
 * exchange on a stream alike, by their order.
 */
const messageSchema = z.tuple([
  z.literal([0, 1]),
  count,
  orNone,
  count,
  count,
  count,
  nanoseconds,
]);

/**
 * Times are nanoseconds since `origin`, by the rank's own clock, which differs from those of
 * other ranks (`shared/trace/clock-offsets.ts`). Spans that are not hidden add up to the phases of
 * the iteration's record.
 */
const traceRecordSchema = z.strictObject({
  type: z.literal('trace'),
  at: z.number(),
  rank: count,
  iteration: count,
  /** Begin of the iteration, ms since 1970. */
  origin: z.number(),
  /** The machine's clock, where the origin is told by that itself: ranks with the same one need no comparison. */
  clock: z.string().max(200).optional(),
  /** Nanoseconds of the iteration. */
  wall: z.int().min(0),
  /** Names of the threads. */
  threads: z.array(z.string().max(100)).min(1).max(16).readonly(),
  /** Names of the buckets. */
  buckets: z.array(z.string().max(1000)).max(10_000).readonly(),
  /** Spans: [thread, phase, bucket, awaited rank, start, duration, 1 if hidden]; -1: none. */
  spans: z.array(spanSchema).max(MOST_SPANS).readonly(),
  /** Messages: [1 if received, peer, bucket, stream, exchange on it, bytes, moment]; -1: none. */
  messages: z.array(messageSchema).max(MOST_SPANS).readonly(),
  /** Spans and messages beyond the most that a record has; default: 0. */
  dropped: count.optional(),
});
export type TraceRecord = z.infer<typeof traceRecordSchema>;
export type TraceSpan = z.infer<typeof spanSchema>;
export type TraceMessage = z.infer<typeof messageSchema>;

export const traceKind = recordKind({
  schema: traceRecordSchema,
  repetition: {
    by: 'name',
    name: ({ iteration, rank }) => `trace ${rank}/${iteration}`,
    untilNew: false,
  },
  thinning: 'measures',
  printed: unprinted,
  tables: NO_TABLES,
});
