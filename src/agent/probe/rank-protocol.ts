/**
 * Orders and reports between rank processes that measure and their parent: `measureNetwork`,
 * or a supervisor that has one end of a link. Both check what they get.
 */
import { z } from 'zod';
import { networkProfileSchema } from '../../shared/cost-model/network-profile.ts';
import { hostSchema, rankAddressSchema } from '../../shared/protocol/rank-address.ts';
import { linkTimingSchema } from '../../shared/protocol/replies.ts';
import { portsSchema, secretSchema } from '../../shared/protocol/requests.ts';
import { TRANSPORT_KINDS } from '../transport/transport-choice.ts';
import { PROBE_EFFORTS } from './collective-timing.ts';
import type { LinkOrder, TimedLink } from './link-end.ts';
import type { Probe, ProbeOrder } from './probe-order.ts';

const count = z.int().min(0);
const addresses = z.array(rankAddressSchema).min(1).readonly();
const meeting = { addresses, run: z.string().min(1).max(200), secret: secretSchema };

const probeOrderSchema = z.object({
  ...meeting,
  transport: z.enum([...TRANSPORT_KINDS, 'auto']),
  effort: z.enum(PROBE_EFFORTS),
}) satisfies z.ZodType<ProbeOrder>;

const linkOrderSchema = z.object({
  ...meeting,
  encrypt: z.boolean(),
}) satisfies z.ZodType<LinkOrder>;

export const toRankSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('listen'),
    rank: count,
    /**
     * Host to listen at; default: loopback, because ranks of one command are processes of one
     * machine.
     */
    host: hostSchema.optional(),
    ports: portsSchema.optional(),
  }),
  probeOrderSchema.extend({ type: z.literal('probe') }),
  linkOrderSchema.extend({ type: z.literal('time') }),
]);
export type ToRank = Readonly<z.infer<typeof toRankSchema>>;

const time = z.number().min(0);
const times = z.array(time).min(1).readonly();
const messages = z
  .array(z.object({ bytes: count, seconds: times }))
  .min(1)
  .readonly();

const probeSchema = z.object({
  timings: z.object({
    pairs: z
      .array(z.object({ ranks: z.tuple([count, count]).readonly(), messages }))
      .readonly(),
    loaded: z
      .array(
        z.object({
          ranks: z.int().min(2),
          messages,
          /** Bursts, by size; empty if there is only one other rank. */
          bursts: z.array(z.object({ bytes: count, seconds: times })).readonly(),
        }),
      )
      .readonly(),
    kernels: networkProfileSchema.shape.kernels.strip(),
    collectives: z
      .array(
        z.object({
          collective: z.string().max(100),
          length: count,
          nnz: count.optional(),
          seconds: times,
        }),
      )
      .readonly(),
  }),
  transport: z.enum(TRANSPORT_KINDS),
}) satisfies z.ZodType<Probe>;

const timedSchema = z.object({
  timing: linkTimingSchema.optional(),
  transport: z.enum(TRANSPORT_KINDS),
}) satisfies z.ZodType<TimedLink>;

export const fromRankSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), address: rankAddressSchema }),
  probeSchema.extend({ type: z.literal('probed') }),
  /** One end of a link has finished; the first has the result. */
  timedSchema.extend({ type: z.literal('timed') }),
]);
export type FromRank = Readonly<z.infer<typeof fromRankSchema>>;
