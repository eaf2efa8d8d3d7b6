/**
 * A supervisor's replies, each with the schema of its body, beside the requests in
 * `requests.ts`. The machine that replies may have another version, or be no supervisor at all.
 */
import { z } from 'zod';
import type { LinkTiming } from '../cost-model/link-timing.ts';
import { networkProfileSchema } from '../cost-model/network-profile.ts';
import { checkedMessage } from './checked-message.ts';
import { planSwitchSchema, planSwitchesSchema } from './plan-schemas.ts';
import { rankAddressSchema } from './rank-address.ts';
import { MOST_RANKS, type SupervisorMethod } from './requests.ts';
import { runStatusSchema, sentSpecSchema } from './run-status.ts';

const MOST_RUNS = 100_000;
const nothing = z.object({});
const secondsOf = z.number().min(0);
const sequence = z.int().min(0);

export const linkTimingSchema = z.object({
  alpha: secondsOf,
  there: secondsOf,
  back: secondsOf,
}) satisfies z.ZodType<LinkTiming>;

export const transportNameSchema = z.string().min(1).max(100);

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
  switch: z.object({ switch: planSwitchSchema }),
  adopt: nothing,
  stop: nothing,
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
  ping: nothing,
  runs: z.object({ runs: z.array(runStatusSchema).max(MOST_RUNS).readonly() }),
} as const satisfies Readonly<Record<SupervisorMethod, z.ZodType>>;

/** The body of each reply, as the one who asked gets it. */
export type ReplyBodies = {
  readonly [M in SupervisorMethod]: Readonly<z.infer<(typeof replySchemas)[M]>>;
};

/**
 * @param place the machine, for the error
 * @throws GradwireError `REPLY_INVALID`
 */
export function parseReply<M extends SupervisorMethod>(
  method: M,
  raw: unknown,
  place: string,
): ReplyBodies[M] {
  const refusal = { code: 'REPLY_INVALID', what: `the reply to "${method}"`, place };
  return checkedMessage(replySchemas[method], raw, refusal) as ReplyBodies[M];
}
