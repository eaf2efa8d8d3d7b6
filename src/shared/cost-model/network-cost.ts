/**
 * The α–β–γ model's constants for one world: what the costs of collectives are computed
 * from. Every cost is linear in them, so that it can be taken apart into what each
 * contributes (`cost-terms.ts`).
 *
 * Where they were measured two of them are finer. A byte of a message that no cache holds
 * takes longer than one of a small message, so β is known by the message's size, as in
 * PLogP (Kielmann, Bal and Verstoep, 2000). And of messages that leave at once, to several
 * ranks, only the first takes a whole latency, the others what a sender is busy with: o of
 * LogP (Culler et al., 1993).
 *
 * Source: SparCML (Renggli et al., SC 2019), section 4; the constants per entry are ours:
 * merging and scattering cost more than a SIMD addition, and not in the same proportion
 * on every machine.
 */
import type { TimedCollective } from './timed-collective.ts';

/** α: s per message, β: s per byte, γ: s per element added. */
export interface NetworkCost {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  /** o: s per further message of those that leave at once; default: α. */
  readonly overhead?: number | undefined;
  /** β by the bytes of a message, ascending; default: the same at any size. */
  readonly rates?: readonly MessageRate[] | undefined;
  /** The same between nodes; default: `BETWEEN_NODES`. */
  readonly between?: NodeLink | undefined;
  /** Collectives that were timed in such a world; default: none was. */
  readonly timed?: TimedCollectives | undefined;
  /** s per entry that goes into a merge of two sparse streams; default: MERGE_COST·γ. */
  readonly merge?: number | undefined;
  /** s per entry added into a dense vector; default: SCATTER_COST·γ. */
  readonly scatter?: number | undefined;
}

/** What messages to other nodes take, over one link that the ranks of a node share. */
export interface NodeLink {
  readonly alpha: number;
  readonly beta: number;
  /** Each rank has a link of its own instead, as emulated ones are; default: they share. */
  readonly perRank?: boolean | undefined;
}

export interface TimedCollectives {
  /** The constants that were measured with them, whatever was corrected since. */
  readonly network: NetworkCost;
  readonly collectives: readonly TimedCollective[];
}

/** What a byte takes in messages of this many bytes. */
export interface MessageRate {
  readonly bytes: number;
  /** s per byte. */
  readonly beta: number;
}

/** β of messages of this many bytes, interpolated by logarithm between the known sizes. */
export function byteSeconds({ beta, rates = [] }: NetworkCost, bytes: number): number {
  const above = rates.findIndex((rate) => rate.bytes >= bytes);
  const upper = rates.at(above);
  if (upper === undefined) return beta;
  // Below all that are known, or above: `at(-1)` is the last.
  const lower = above > 0 ? rates[above - 1]! : upper;
  if (lower === upper) return upper.beta;
  const share = Math.log(bytes / lower.bytes) / Math.log(upper.bytes / lower.bytes);
  return lower.beta + share * (upper.beta - lower.beta);
}

/** One message, from one rank to another: α + bytes·β. */
export const messageSeconds = (network: NetworkCost, bytes: number): number =>
  network.alpha + bytes * byteSeconds(network, bytes);

/** n messages of this many bytes each that one rank sends at once: α + (n−1)·o + n·bytes·β. */
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
 * What one entry costs to merge, in units of γ, where it was not measured: two streams of
 * random indices advance by branches that cannot be predicted.
 */
const MERGE_COST = 14;
/** The same of an entry scattered into a dense vector: an addition at a random place. */
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
 * A link between nodes that nobody has measured: Gigabit Ethernet, 941 Mbit/s of messages,
 * and a latency somewhat above that within a node. The slowest that clusters have: where it
 * is faster in truth, what spares it is still no slower.
 */
export const BETWEEN_NODES: NodeLink = { alpha: 100e-6, beta: 8.5e-9 };

/** The constants for messages to other nodes, one rank at a time on the link. */
export const betweenNodes = ({
  between: { alpha, beta } = BETWEEN_NODES,
}: NetworkCost): NetworkCost => ({ alpha, beta, gamma: 0 });

/** How many of the ranks of a node that send at once share one link to other nodes. */
export const sharingLink = ({ between }: NetworkCost, ranks: number): number =>
  between?.perRank === true ? 1 : ranks;
