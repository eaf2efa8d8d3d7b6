/**
 * The α–β–γ model's constants for one world, from which the costs of collectives are
 * computed. Every cost is linear in them, so it splits into the contributions of each
 * constant (`cost-terms.ts`).
 *
 * Measured networks refine two of them. A byte of a message too large for the caches takes
 * longer than a byte of a small message, so β depends on the message's size, as in PLogP
 * (Kielmann, Bal and Verstoep, 2000). When several messages leave at once, to several ranks,
 * only the first takes a full latency; each further one takes the sender's overhead, o in
 * LogP (Culler et al., 1993).
 *
 * Source: SparCML (Renggli et al., SC 2019), section 4; the constants per entry are ours:
 * merging and scattering cost more than a SIMD addition, and not in the same proportion
 * on every machine.
 */
import type { TimedCollective } from './timed-collective.ts';
import { log } from '../numbers/portable-math.ts';

/** α: s per message, β: s per byte, γ: s per element added. */
export interface NetworkCost {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  /** o: s per further message sent at once; default: α. */
  readonly overhead?: number | undefined;
  /** β by the bytes of a message, ascending; default: the same at any size. */
  readonly rates?: readonly MessageCost[] | undefined;
  /** The same between nodes; default: `BETWEEN_NODES`. */
  readonly between?: LinkCost | undefined;
  /** Collectives that were timed in such a world; default: none. */
  readonly timed?: TimedCollectives | undefined;
  /** s per entry that goes into a merge of two sparse streams; default: MERGE_COST·γ. */
  readonly merge?: number | undefined;
  /** s per entry added into a dense vector; default: SCATTER_COST·γ. */
  readonly scatter?: number | undefined;
}

/** The cost of messages to other nodes, over one link that the ranks of a node share. */
export interface LinkCost {
  readonly alpha: number;
  readonly beta: number;
  /** Whether each rank has its own link, as emulated ranks do; default: they share one. */
  readonly perRank?: boolean | undefined;
}

interface TimedCollectives {
  /** The constants measured along with them, before any correction. */
  readonly network: NetworkCost;
  readonly collectives: readonly TimedCollective[];
}

/** The time of a byte in messages of this size. */
interface MessageCost {
  readonly bytes: number;
  /** s per byte. */
  readonly beta: number;
}

/**
 * The most by which a byte of a large message takes longer than one of a small message
 * because of caches and copies: no memory is slower. What is beyond is a link's.
 */
const COPY_SECONDS = 1e-9;

/**
 * The link's own s per byte: that of the largest messages, if it is more than copies explain; else 0,
 * as nothing is known of the link. Small messages may seem faster where a shaper lets bursts pass,
 * which is over when more of them follow.
 */
export function linkByteSeconds({ beta, rates }: NetworkCost): number {
  const sustained = rates?.at(-1)?.beta ?? beta;
  const share = sustained / COPY_SECONDS - 1;
  return sustained * Math.min(1, Math.max(0, share));
}

/**
 * β of messages of this many bytes, interpolated by logarithm between the known sizes; at least the
 * link's own.
 */
export const byteSeconds = (network: NetworkCost, bytes: number): number =>
  Math.max(timedByteSeconds(network, bytes), linkByteSeconds(network));

function timedByteSeconds({ beta, rates = [] }: NetworkCost, bytes: number): number {
  const above = rates.findIndex((rate) => rate.bytes >= bytes);
  const upper = rates.at(above);
  if (upper === undefined) return beta;
  // Outside the known sizes: below the first, or above the last.
  const lower = above > 0 ? rates[above - 1]! : upper;
  if (lower === upper) return upper.beta;
  const share = log(bytes / lower.bytes) / log(upper.bytes / lower.bytes);
  return lower.beta + share * (upper.beta - lower.beta);
}

/** One message, from one rank to another: α + bytes·β. */
export const messageSeconds = (network: NetworkCost, bytes: number): number =>
  network.alpha + bytes * byteSeconds(network, bytes);

/** n messages of `bytes` bytes each, sent at once by one rank: α + (n−1)·o + n·bytes·β. */
export function burstSeconds(
  network: NetworkCost,
  messages: number,
  bytes: number,
): number {
  const { alpha, overhead = alpha } = network;
  if (messages < 1) return 0;
  return (
    alpha + (messages - 1) * overhead + messages * bytes * byteSeconds(network, bytes)
  );
}

/**
 * The cost of merging one entry, in units of γ, if it was not measured: two streams of
 * random indices advance by branches that cannot be predicted.
 */
const MERGE_COST = 14;
/** The same for an entry scattered into a dense vector: an addition at a random place. */
const SCATTER_COST = 5;

/** s per entry merged, measured or in proportion to γ. */
export const mergeSeconds = ({
  gamma,
  merge = MERGE_COST * gamma,
}: NetworkCost): number => merge;

/** s per entry scattered, measured or in proportion to γ. */
export const scatterSeconds = ({
  gamma,
  scatter = SCATTER_COST * gamma,
}: NetworkCost): number => scatter;

/**
 * The constants that `auto` uses before a network has been measured: loopback on
 * `node:net`, as on the machine where the transport was first timed (83 µs round trip
 * blocking, so about 60 µs a message in a collective; 1.5 GB/s a stream; 0.3 ns an
 * element added by the SIMD kernels).
 */
export const LOOPBACK: NetworkCost = {
  alpha: 60e-6,
  beta: 1 / 1.5e9,
  gamma: 0.3e-9,
};

/**
 * An unmeasured link between nodes: Gigabit Ethernet, 941 Mbit/s of messages, and a latency
 * somewhat above that within a node. This is the slowest link that clusters have: on a
 * faster one, a plan that spares it is still no slower.
 */
export const BETWEEN_NODES: LinkCost = { alpha: 100e-6, beta: 8.5e-9 };

/** The constants for messages to other nodes, one rank at a time on the link. */
export const betweenNodes = ({
  between: { alpha, beta } = BETWEEN_NODES,
}: NetworkCost): NetworkCost => ({ alpha, beta, gamma: 0 });

/** Number of a node's ranks that, sending at once, share one link to other nodes. */
export const sharingLink = ({ between }: NetworkCost, ranks: number): number =>
  between?.perRank === true ? 1 : ranks;
