/**
 * A supervisor's replies, each with the schema of its body, beside the requests in
 * `requests.ts`. The machine that replies may have another version, or be no supervisor at all.
 */
import { z } from 'zod';
import type { LinkTiming } from '../cost-model/link-timing.ts';
import { networkProfileSchema } from '../cost-model/network-profile.ts';
import { orderNamed, type AnswerTo, type AskedType } from '../orders/orders.ts';
import { checkedMessage, type Refusal } from './checked-message.ts';
import { planSwitchesSchema } from '../plan/plan-schemas.ts';
import { rankAddressSchema } from './rank-address.ts';
import {
  isPlainMethod,
  MOST_RANKS,
  type PlainMethod,
  type SupervisorMethod,
} from './requests.ts';
import { runStatusSchema, sentSpecSchema } from './run-status.ts';
import { MOST_TREE_ENTRIES, sha256Schema } from './work-tree.ts';

const MOST_RUNS = 100_000;
const nothing = z.object({});
const secondsOf = z.number().min(0);
const sequence = z.int().min(0);

export const linkTimingSchema = z.object({
  alpha: secondsOf,
  there: secondsOf,
  back: secondsOf,
}) satisfies z.ZodType<LinkTiming>;

const transportNameSchema = z.string().min(1).max(100);

export const replySchemas = {
  validate: z.object({ spec: sentSpecSchema, switches: planSwitchesSchema }),
  prepare: z.object({
    addresses: z
      .array(
        z.object({
          rank: z.int().min(0).lt(MOST_RANKS),
          address: rankAddressSchema,
        }),
      )
      .max(MOST_RANKS)
      .readonly(),
    /** The run waits for an allocation and starts by itself; there are no addresses yet. */
    queued: z.boolean().optional(),
  }),
  begin: nothing,
  adopt: nothing,
  abort: nothing,
  subscribe: z.object({ lastSequence: sequence }),
  unsubscribe: nothing,
  acknowledge: nothing,
  openLinkEnd: z.object({ address: rankAddressSchema }),
  timeLink: z.object({
    timing: linkTimingSchema.optional(),
    transport: transportNameSchema,
  }),
  closeLink: nothing,
  measureNetwork: z.object({ profile: networkProfileSchema.strip() }),
  testJob: nothing,
  missingFiles: z.object({
    /** SHA-256 of each. */
    missing: z.array(sha256Schema).max(MOST_TREE_ENTRIES).readonly(),
  }),
  putFiles: nothing,
  makeTree: z.object({ tree: sha256Schema }),
  ping: nothing,
  runs: z.object({ runs: z.array(runStatusSchema).max(MOST_RUNS).readonly() }),
} as const satisfies Readonly<Record<PlainMethod, z.ZodType>>;

/** The body of each reply, as the one who asked gets it. */
export type ReplyBodies = {
  readonly [M in PlainMethod]: Readonly<z.infer<(typeof replySchemas)[M]>>;
} & { readonly [T in AskedType]: AnswerTo<T> };

/**
 * @param place the machine, for the error
 * @throws GradwireError `REPLY_INVALID`
 */
export function parseReply<M extends SupervisorMethod>(
  method: M,
  raw: unknown,
  place: string,
): ReplyBodies[M] {
  const refusal: Refusal = {
    code: 'REPLY_INVALID',
    what: `the reply to "${method}"`,
    place,
  };
  const schema = isPlainMethod(method)
    ? replySchemas[method]
    : orderNamed(method)!.answer;
  return checkedMessage(schema, raw, refusal) as ReplyBodies[M];
}
