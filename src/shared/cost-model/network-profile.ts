/**
 * A network profile: measurements of a set of ranks, as data that can be stored, shown and
 * given to every rank of a run. It has α and β of each pair alone, α and β while all ranks
 * send at once, as in a collective, and γ of the kernels while all ranks compute.
 */
import { z } from 'zod';
import { inputError } from '../errors/errors.ts';
import { explainIssue } from '../spec/experiment-spec.ts';
import { INTERPRETED } from '../checks/interpreted.ts';
import { log } from '../numbers/portable-math.ts';
import { quantile } from '../numbers/quantile.ts';
import type { LinkCost } from './link-fit.ts';
import type { NetworkCost } from './network-cost.ts';
import { timedCollective } from './timed-collective.ts';

type Load = NetworkProfile['loaded'][number];

const seconds = z.number().min(0).lt(1e6);
const count = z.int().min(0);

const timedMessage = z.strictObject({
  bytes: z.number().positive(),
  /** Median over repetitions of the slowest rank's time. */
  seconds: z.number().positive().lt(1e6),
});
export type TimedMessage = z.infer<typeof timedMessage>;

export const networkProfileSchema = z.strictObject({
  version: z.literal(1),
  /** Wall-clock milliseconds since 1970. */
  measuredAt: z.number(),
  transport: z.string(),
  /** The node of each rank. */
  nodes: z.array(z.string()).min(1),
  /** Each pair alone, the others silent. */
  pairs: z.array(
    z.strictObject({
      ranks: z.tuple([count, count]),
      /** s per message, one way. */
      alpha: seconds,
      /** s per byte. */
      beta: seconds,
    }),
  ),
  /** The slowest link while the first n ranks all send to their neighbours, for several n. */
  loaded: z.array(
    z.strictObject({
      ranks: z.int().min(2),
      /** Fitted to all sizes: for display, and used where the fields below are missing. */
      alpha: seconds,
      beta: seconds,
      /** One message each, by size, ascending: at least the smallest and one more. */
      messages: z.array(timedMessage).optional(),
      /** One message of a size to each other rank at once. */
      bursts: z.array(timedMessage).optional(),
    }),
  ),
  /** The collectives themselves, all ranks at once, on a few shapes. */
  collectives: z.array(timedCollective).optional(),
  /** Cores of each node, where they are known. */
  cores: z.int().min(1).optional(),
  /** s per element or entry, median over ranks that all compute at once. */
  kernels: z.strictObject({
    /** An element added to another: γ. */
    add: seconds,
    /** An entry that goes into a merge of two sparse streams. */
    merge: seconds,
    /** An entry added into a dense vector. */
    scatter: seconds,
    /** An element read by a top-k selection of 1 %. */
    select: seconds,
    /** An element quantised to 4 bits and decoded again. */
    quantize: seconds,
    dequantize: seconds,
  }),
});
export type NetworkProfile = z.infer<typeof networkProfileSchema>;

/** @throws GradwireError `NETWORK_PROFILE_INVALID`, `NETWORK_PROFILE_UNKNOWN_KEY` */
export function parseNetworkProfile(raw: unknown, place: string): NetworkProfile {
  const parsed = networkProfileSchema.safeParse(raw, INTERPRETED);
  if (!parsed.success) {
    throw explainIssue(networkProfileSchema, raw, parsed.error, {
      code: 'NETWORK_PROFILE',
      place,
    });
  }
  if (parsed.data.pairs.length === 0 && parsed.data.loaded.length === 0) {
    throw inputError('NETWORK_PROFILE_INVALID', 'the profile has no pair of ranks', {
      place,
      next: 'Measure with at least two ranks: gradwire bench network --ranks 2.',
    });
  }
  return parsed.data;
}

/**
 * The constants for a world of this size: those of the nearest load, or, if no load was
 * measured, those of the slowest pair, since a collective ends when its last rank does.
 * Kernels were timed while all measured ranks shared the cores; fewer ranks share less.
 */
export function networkCostOf(profile: NetworkProfile, ranks: number): NetworkCost {
  const { add, merge, scatter } = profile.kernels;
  const load = loadNearest(profile, ranks);
  const messages = load === undefined ? worstPair(profile) : messageCosts(load);
  const share = sharing(profile, ranks) / sharing(profile, profile.nodes.length);
  const network = {
    ...messages,
    gamma: share * add,
    merge: share * merge,
    scatter: share * scatter,
  };
  const collectives = profile.collectives?.filter((timed) => timed.ranks === ranks);
  return collectives === undefined
    ? network
    : { ...network, timed: { network, collectives } };
}

/** Ranks per core while the first `ranks` measured ranks compute. */
function sharing({ nodes, cores = Infinity }: NetworkProfile, ranks: number): number {
  const crowds = [...Map.groupBy(nodes.slice(0, ranks), (node) => node).values()];
  return Math.max(1, ...crowds.map(({ length }) => length / cores));
}

/** The pair with the most seconds for a message of 64 KiB. */
export function worstPair({ pairs }: NetworkProfile): LinkCost {
  return pairs.reduce((worst, pair) =>
    slowness(pair) > slowness(worst) ? pair : worst,
  );
}

/** Medians over the pairs, of α and of β by themselves. */
export function medianPair({ pairs }: NetworkProfile): LinkCost {
  return {
    alpha: quantile(
      pairs.map(({ alpha }) => alpha),
      0.5,
    )!,
    beta: quantile(
      pairs.map(({ beta }) => beta),
      0.5,
    )!,
  };
}

/** α, β by size and o of a load, if measured. */
function messageCosts({
  ranks,
  alpha,
  beta,
  messages = [],
  bursts: [burst] = [],
}: Load): Pick<NetworkCost, 'alpha' | 'beta' | 'rates' | 'overhead'> {
  const [smallest, ...larger] = messages;
  if (smallest === undefined || larger.length === 0) return { alpha, beta };
  const rates = larger.map(({ bytes, seconds }) => ({
    bytes,
    beta: Math.max(0, seconds - smallest.seconds) / bytes,
  }));
  const further = burst && (burst.seconds - smallest.seconds) / (ranks - 2);
  return {
    alpha: smallest.seconds,
    beta,
    rates,
    overhead: further && Math.min(smallest.seconds, Math.max(0, further)),
  };
}

const slowness = ({ alpha, beta }: LinkCost): number => alpha + 65_536 * beta;

/** Nearest by ratio; in a tie, such as 4 between 2 and 8, the larger is safer. */
function loadNearest({ loaded }: NetworkProfile, ranks: number): Load | undefined {
  const distance = (load: { readonly ranks: number }): number =>
    Math.abs(log(load.ranks / Math.max(2, ranks)));
  return loaded
    .toSorted((a, b) => distance(a) - distance(b) || b.ranks - a.ranks)
    .at(0);
}
