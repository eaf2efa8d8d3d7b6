/** Orders and reports between `allreduceFiles` and its rank processes, which both check them. */
import { z } from 'zod';
import { emulatedNetworkSchema } from '../../shared/machines/emulated-network.ts';
import { rankAddressSchema } from '../../shared/protocol/rank-address.ts';
import { placesSchema, secretSchema } from '../../shared/protocol/requests.ts';
import { readableQuantizationSchema } from '../../shared/plan/quantization.ts';
import { REDUCE_OPERATIONS } from '../kernels/reduction.ts';
import { VALUE_TYPES } from '../memory/value-type.ts';
import { TRANSPORT_KINDS } from '../transport/transport-choice.ts';
import type { NotFinite } from './not-finite.ts';

const count = z.int().min(0);
const file = z.string().min(1).max(100_000);

export const toRankSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('load'),
    rank: count,
    file,
    values: z.enum(VALUE_TYPES),
  }),
  z.object({
    type: z.literal('reduce'),
    addresses: z.array(rankAddressSchema).min(1).readonly(),
    run: z.string().min(1).max(100),
    secret: secretSchema,
    collective: z.string().max(100),
    /** The form in which the vector is sent: dense, or as entries. */
    kind: z.enum(['dense', 'sparse']),
    operation: z.enum(REDUCE_OPERATIONS),
    transport: z.enum([...TRANSPORT_KINDS, 'auto']),
    encrypt: z.boolean(),
    network: emulatedNetworkSchema.strip().optional(),
    places: placesSchema.optional(),
    quantization: readableQuantizationSchema.optional(),
    servers: z.int().min(1).optional(),
    /** δ/N at which streams turn dense. */
    delta: z.number().gt(0).lt(1).optional(),
    /** Seed of random rounding. */
    seed: count,
  }),
  z.object({ type: z.literal('write'), file }),
]);
export type ToRank = Readonly<z.infer<typeof toRankSchema>>;

const notFiniteSchema = z.object({
  count: z.int().min(1),
  index: count,
  value: z.enum(['NaN', 'Infinity', '-Infinity']),
}) satisfies z.ZodType<NotFinite>;

const loadedSchema = z.object({
  type: z.literal('loaded'),
  address: rankAddressSchema,
  /** n, elements. */
  length: count,
  /** Non-zero elements. */
  nnz: count,
  notFinite: notFiniteSchema.optional(),
});

const reducedSchema = z.object({
  type: z.literal('reduced'),
  /** Time of the collective alone. */
  milliseconds: z.number().min(0),
  /** Bytes of the collective on the wire, framing included. */
  wireSent: count,
  wireReceived: count,
  /** The choice of `auto`. */
  transport: z.enum(TRANSPORT_KINDS),
  form: z.enum(['dense', 'sparse']),
  /** Non-zero elements of the result. */
  nnz: count,
});

export const fromRankSchema = z.discriminatedUnion('type', [
  /** The vector is in memory and the rank listens. */
  loadedSchema,
  reducedSchema,
  z.object({ type: z.literal('written') }),
]);
export type FromRank = Readonly<z.infer<typeof fromRankSchema>>;
export type Report<Type extends FromRank['type']> = Extract<
  FromRank,
  { readonly type: Type }
>;
