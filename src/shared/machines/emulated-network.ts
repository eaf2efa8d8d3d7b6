/**
 * An emulated network: the link of every rank, as if it had a network card of that speed, and
 * links between nodes that differ from it. Quantities may be written as text with a unit or as
 * numbers of bit/s and seconds; a spec stores them as normalised text. Bandwidth is that of the
 * cable: packets have headers, as on Ethernet.
 */
import { z } from 'zod';
import { quantityText, readQuantity } from '../words/quantity-text.ts';

/** Payload of a TCP segment on Ethernet: 1500 less IP's 20, TCP's 20 and timestamps' 12. */
const PACKET_BYTES = 1448;
/**
 * Bytes of those headers and of Ethernet's: 8 preamble, 14 header, 4 checksum, 12 between
 * packets.
 */
const PACKET_HEADERS = 90;

const LEAST_BANDWIDTH = 1e5;
const MOST_BANDWIDTH = 1e12;
const MOST_LATENCY = 10;

const BIT_RATES = new Map(
  ['', 'k', 'M', 'G', 'T'].flatMap((prefix, power) =>
    (['bit/s', 'b/s', 'bps', 'B/s'] as const).map((unit): [string, number] => [
      prefix + unit,
      1000 ** power * (unit === 'B/s' ? 8 : 1),
    ]),
  ),
);
const TIMES = new Map([
  ['s', 1],
  ['ms', 1e-3],
  ['µs', 1e-6],
  // The Greek letter mu is another character than the micro sign; u is for keyboards.
  ['μs', 1e-6],
  ['us', 1e-6],
  ['ns', 1e-9],
]);

const BANDWIDTH_TEXT =
  'must be a bandwidth from 100 kbit/s to 1 Tbit/s, such as "1 Gbit/s", "100 Mbit/s" or ' +
  '"125 MB/s" (bytes), or a number of bit/s';
const LATENCY_TEXT =
  'must be a one-way time from 0 to 10 s, such as "50 µs", "50 us" or "0.2 ms", or a ' +
  'number of seconds';

interface Kind {
  readonly units: ReadonlyMap<string, number>;
  readonly least: number;
  readonly most: number;
  /** The message for any other value. */
  readonly refusal: string;
  /** The normalised text. */
  readonly spell: (value: number) => string;
}

/** A quantity as normalised text; `read` gives its value. */
const quantity = ({ units, least, most, refusal, spell }: Kind) =>
  z
    .union([z.string().max(40), z.number()], { error: refusal })
    .transform((raw, context) => {
      const value = typeof raw === 'number' ? raw : readQuantity(raw, units);
      if (value !== undefined && value >= least && value <= most) return spell(value);
      context.addIssue({ code: 'custom', message: refusal });
      return z.NEVER;
    });

const bandwidthSchema = quantity({
  units: BIT_RATES,
  least: LEAST_BANDWIDTH,
  most: MOST_BANDWIDTH,
  refusal: BANDWIDTH_TEXT,
  spell: bandwidthText,
});
const latencySchema = quantity({
  units: TIMES,
  least: 0,
  most: MOST_LATENCY,
  refusal: LATENCY_TEXT,
  spell: latencyText,
});

/** Links that are all alike. */
export const linkSpecSchema = z.strictObject({
  bandwidth: bandwidthSchema
    .describe(
      'Bandwidth of each rank’s link in each direction, such as 1 Gbit/s; empty for the real network',
    )
    .meta({ title: 'Bandwidth' }),
  latency: latencySchema
    .prefault(0)
    .describe('One-way latency of a message, such as 50 µs')
    .meta({ title: 'Latency' }),
});

export const networkSpecSchema = linkSpecSchema.extend({
  pairs: z
    .array(
      z.strictObject({
        between: z
          .tuple([z.string(), z.string()], {
            error: 'must be the names of two machines',
          })
          .describe('Names of two machines'),
        ...linkSpecSchema.shape,
      }),
    )
    .max(1000)
    .optional()
    .describe(
      'Links that differ: between two machines, or within one machine named twice, such as [{"between": ["a", "b"], "bandwidth": "100 Mbit/s"}]',
    )
    .meta({ title: 'Pairs', folded: true }),
});
export type NetworkSpec = z.infer<typeof networkSpecSchema>;

/** Bandwidth and latency of a rank's emulated link. */
export interface EmulatedLink {
  /** Bit/s of each direction. */
  readonly bandwidth: number;
  /** Milliseconds, one way. */
  readonly latency: number;
}

/** The link between ranks of two nodes, or of one node. */
export interface EmulatedPair extends EmulatedLink {
  /** Names of the two nodes, or twice that of one. */
  readonly between: readonly [string, string];
}

/** The link of every rank, except for pairs of nodes that have their own. */
export interface EmulatedNetwork extends EmulatedLink {
  readonly pairs?: readonly EmulatedPair[] | undefined;
}

const emulatedLinkSchema = z.strictObject({
  bandwidth: z.number().min(LEAST_BANDWIDTH).max(MOST_BANDWIDTH),
  latency: z
    .number()
    .min(0)
    .max(1000 * MOST_LATENCY),
});

export const emulatedNetworkSchema = emulatedLinkSchema.extend({
  pairs: z
    .array(
      emulatedLinkSchema.extend({
        between: z.tuple([z.string(), z.string()]).readonly(),
      }),
    )
    .readonly()
    .optional(),
}) satisfies z.ZodType<EmulatedNetwork>;

/** @param spec as its schema leaves it */
export function emulatedNetwork({ pairs, ...link }: NetworkSpec): EmulatedNetwork {
  if (pairs === undefined) return emulatedLink(link);
  return {
    ...emulatedLink(link),
    pairs: pairs.map(({ between, ...own }) => ({ between, ...emulatedLink(own) })),
  };
}

const emulatedLink = ({
  bandwidth,
  latency,
}: z.infer<typeof linkSpecSchema>): EmulatedLink => ({
  bandwidth: readQuantity(bandwidth, BIT_RATES)!,
  latency: 1000 * readQuantity(latency, TIMES)!,
});

/** Pairs listed by name; any further ones are only counted. */
const MOST_DESCRIBED = 4;

/** `emulated 1 Gbit/s, 50 µs; lab-1–lab-2: 100 Mbit/s; within lab-1: 10 Gbit/s`. */
export function describeEmulated({ pairs = [], ...link }: EmulatedNetwork): string {
  const own = pairs.slice(0, MOST_DESCRIBED).map(({ between: [a, b], ...other }) => {
    const where = a === b ? `within ${a}` : `${a}–${b}`;
    return `; ${where}: ${linkText(other)}`;
  });
  const more = pairs.length - own.length;
  const rest = more === 0 ? '' : `; and ${more} more ${more === 1 ? 'pair' : 'pairs'}`;
  return `emulated ${linkText(link)}${own.join('')}${rest}`;
}

const linkText = ({ bandwidth, latency }: EmulatedLink): string =>
  bandwidthText(bandwidth) + (latency === 0 ? '' : `, ${latencyText(latency / 1000)}`);

/** Bytes on the cable for this many bytes of a stream, sent at once. */
export const cableBytes = (bytes: number): number =>
  bytes + PACKET_HEADERS * Math.ceil(bytes / PACKET_BYTES);

/** Seconds that a byte of a long message takes, headers included. */
export const secondsPerByte = ({ bandwidth }: EmulatedLink): number =>
  (8 / bandwidth) * (cableBytes(PACKET_BYTES) / PACKET_BYTES);

function bandwidthText(bitsPerSecond: number): string {
  return quantityText(bitsPerSecond, [
    ['Tbit/s', 1e12],
    ['Gbit/s', 1e9],
    ['Mbit/s', 1e6],
    ['kbit/s', 1e3],
  ]);
}

function latencyText(seconds: number): string {
  return quantityText(seconds, [
    ['s', 1],
    ['ms', 1e-3],
    ['µs', 1e-6],
  ]);
}
