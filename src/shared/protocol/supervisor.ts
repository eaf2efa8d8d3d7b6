/**
 * The control protocol between main (app or CLI) and a supervisor: length-prefixed
 * MessagePack (`frame.ts`) over a Unix socket or SSH's stdio. Versioned in the
 * hello. Requests carry an id and are answered once, in any order; records and run
 * states are pushed. Delivery of records is at-least-once by sequence; the store is
 * idempotent, so the result is exactly-once.
 */
import { orderNamed } from '../orders/orders.ts';
import { z } from 'zod';
import type { ErrorData } from '../errors/errors.ts';
import { thinningSchema, type JournalEntry } from '../records/journal-entry.ts';
import { runIdSchema } from '../checks/run-id.ts';
import { checkedMessage, type Refusal } from './checked-message.ts';
import { parseHello, type SupervisorHello } from './hello.ts';
import type { ReplyBodies } from './replies.ts';
import type { RequestBodies, SupervisorMethod } from './requests.ts';
import { runStatusSchema, type RunStatus } from './run-status.ts';
import { sentErrorSchema } from './sent-error.ts';

export { PROTOCOL_VERSION, READING_VERSION, type SupervisorHello } from './hello.ts';
export type { SwitchRequest } from '../plan/plan-schemas.ts';
export type { RankAddress, TunnelEntrance } from './rank-address.ts';
export type { RequestMessage, SupervisorMethod } from './requests.ts';
export type { RunPhase, RunStatus } from './run-status.ts';

/** Requests, whose bodies `requests.ts` defines, and their replies, which `replies.ts` does. */
export type SupervisorRequests = {
  readonly [M in SupervisorMethod]: {
    readonly request: RequestBodies[M];
    readonly reply: ReplyBodies[M];
  };
};

const READING_METHODS: readonly SupervisorMethod[] = [
  ...(['runs', 'subscribe', 'unsubscribe', 'acknowledge', 'abort'] as const),
];

/** Whether supervisors of another version take this request, too. */
export const isReading = (method: SupervisorMethod): boolean =>
  READING_METHODS.includes(method) || orderNamed(method)?.isReading === true;

type ReplyMessage =
  | { readonly type: 'reply'; readonly id: number; readonly body: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData };

export type PushMessage =
  | {
      readonly type: 'records';
      readonly run: string;
      readonly entries: readonly JournalEntry[];
    }
  | { readonly type: 'run'; readonly run: RunStatus };

export type FromSupervisor = SupervisorHello | ReplyMessage | PushMessage;

const envelopeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello') }),
  z.object({ type: z.literal('reply'), id: z.int(), body: z.unknown() }),
  z.object({ type: z.literal('error'), id: z.int(), error: sentErrorSchema }),
  z.object({
    type: z.literal('records'),
    run: runIdSchema,
    /** Each record is checked by the store. */
    entries: z.custom<readonly JournalEntry[]>(
      (value) => Array.isArray(value) && value.length > 0 && value.every(isEntry),
      'expected a list of records',
    ),
  }),
  z.object({ type: z.literal('run'), run: runStatusSchema }),
]);

/**
 * Whether a value is an entry. Entries are not copied: a run's records are most of what is
 * sent.
 */
function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { sequence, follows, thinned, record } = value as Partial<JournalEntry>;
  return (
    isSequence(sequence) &&
    (follows === undefined || isSequence(follows)) &&
    (thinned === undefined || thinningSchema.safeParse(thinned).success) &&
    typeof record === 'object' &&
    record !== null
  );
}

const isSequence = (value: unknown): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/**
 * Any message of a supervisor. The body of a reply is left to `parseReply`, for the request
 * that it answers.
 * @param place the machine, for the error
 * @throws GradwireError `PROTOCOL_MISMATCH`
 */
export function parseFromSupervisor(raw: unknown, place: string): FromSupervisor {
  const refusal: Refusal = {
    code: 'PROTOCOL_MISMATCH',
    what: 'a supervisor’s message',
    place,
  };
  const message = checkedMessage(envelopeSchema, raw, refusal);
  return message.type === 'hello' ? parseHello(raw, refusal) : message;
}
