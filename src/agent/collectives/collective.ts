/**
 * A collective: how the payloads of all ranks become their sum on every rank. Adding
 * one: one file here (its cost at the head), one line in `registry.ts`, one entry in the
 * tests. Reductions happen in a fixed order, so that every rank and every run gets the
 * same bits.
 */
import type { PayloadKind } from '../../shared/catalogue/catalogue.ts';
import type { NetworkCost } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Arena, Region } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Float8Type } from '../kernels/microscaling.ts';
import type { ScaleKind } from '../kernels/quantization.ts';
import type { RandomStream } from '../kernels/random.ts';
import type { ReduceOperation, ReductionKernels } from '../kernels/reduction.ts';
import type { ValueBytes } from '../memory/value-type.ts';

/** A group of ranks that exchange one bucket: a transport bound to one exchange. */
export interface Communicator {
  readonly rank: number;
  readonly size: number;
  /** The node of each rank, by rank: equal numbers, one node. The same on all ranks. */
  readonly places: readonly number[];
  readonly arena: Arena;
  readonly kernels: Kernels;
  /** Operation that combines entries; the same on all ranks of an exchange. */
  readonly operation: ReduceOperation;
  /**
   * Bytes of a value in all payloads: those of an f32, unless the communicator is for
   * f64.
   */
  readonly valueBytes: ValueBytes;
  /** The reductions of such values. */
  readonly reduction: ReductionKernels;
  /** Quantization in this exchange, by a collective that quantises; undefined: none. */
  readonly quantization: Quantization | undefined;
  /** S: number of ranks that are servers, in a collective that has servers. */
  readonly servers: number;
  /** δ/N at which streams turn dense; undefined: where both forms take as many bytes. */
  readonly delta: number | undefined;
  /**
   * The peer's rank in the whole world, for messages to people; `peer` itself, unless
   * this is a subset of the ranks.
   */
  worldRank(peer: number): number;
  /**
   * Names random numbers of this rank and exchange, distinct from those of any other
   * purpose.
   * @param purpose which of the collective's messages they are for
   */
  noise(purpose: number): RandomStream;
  send(to: number, region: Region): Promise<void>;
  /** Receives exactly `into.bytes` bytes. */
  receive(from: number, into: Region): Promise<void>;
  /** Receives a message of at most `maximum` bytes, into memory that `place` chooses. */
  receiveSized(
    from: number,
    maximum: number,
    place: (bytes: number) => Region,
  ): Promise<Region>;
  /** Attribute synchronous work to the `reduce` phase. */
  reduce<T>(work: () => T): T;
  /**
   * Scratch of at least `bytes`, kept from exchange to exchange under this key until
   * another collective carries the bucket, so that nothing is allocated once sizes have
   * settled. Valid until the next exchange on the same bucket.
   */
  scratch(key: string, bytes: number): Region;
  /**
   * The given number of values that a collective keeps under this key from one exchange
   * on the same bucket to the next, while the epoch lasts; zeros at first. They decide
   * what is sent, so they must be computed from numbers that all ranks know.
   */
  memory(key: string, count: number): Float64Array;
}

/** Levels of a sign and b − 1 bits, randomly rounded in buckets, as by QSGD. */
export interface LevelQuantization {
  /** b: s = 2^(b−1) − 1 positive levels. */
  readonly bits: number;
  /** d: elements that share a scale. */
  readonly bucket: number;
  readonly scale: ScaleKind;
  readonly format?: undefined;
}

/**
 * Floats: of 8 bits with a scale for each 32 elements, randomly rounded (MXFP8), or of 16, rounded
 * to nearest.
 */
interface FloatQuantization {
  readonly format: Float8Type | 'bf16' | 'fp16';
}

export type Quantization = LevelQuantization | FloatQuantization;

/** Settings that a plan gives its collective. */
export interface CollectiveSettings {
  /** Quantization, for a collective that quantises; default: values are sent in full precision. */
  readonly quantization?: Quantization | undefined;
  /** S, for a collective that has servers; default: `DEFAULT_SERVERS`. */
  readonly servers?: number | undefined;
  /**
   * δ/N at which sparse streams turn dense, in (0, isize/(4 + isize)]; default: that end of
   * it, where both forms take as many bytes.
   */
  readonly delta?: number | undefined;
}

/** Sizes that a cost is computed from. Bytes and elements of one bucket. */
export interface ExchangeShape extends CollectiveSettings {
  readonly ranks: number;
  /** The node of each rank; default: all are on one. */
  readonly places?: readonly number[] | undefined;
  /** N, elements. */
  readonly length: number;
  readonly payloadBytes: number;
  /** k, entries per rank, for sparse payloads. */
  readonly nnz?: number | undefined;
  /** E[K], entries of the reduced result, where known or estimated. */
  readonly nnzReduced?: number | undefined;
  /** Bytes of a value; default: those of an f32. */
  readonly valueBytes?: ValueBytes | undefined;
}

export type { NetworkCost };

export interface CollectiveDefinition {
  readonly id: string;
  /** Code that every header carries; never reused, never renumbered. */
  readonly code: number;
  readonly title: string;
  readonly summary: string;
  readonly source: string;
  /**
   * Cost in the α–β–γ model in the paper's terms, for readers: of N elements, or of k entries per
   * rank and K in the sum, over P ranks on M machines.
   */
  readonly formula?: string | undefined;
  /** The exchanges for which it is the fastest, in a few words. */
  readonly suits?: string | undefined;
  readonly takes: readonly PayloadKind[];
  /** Whether it applies the exchange's quantisation. Default: it sends full precision. */
  readonly quantizes?: boolean | undefined;
  /**
   * Whether it leaves entries out of the sum (`Combined.partial`), which the ranks that
   * sent them must keep. `auto` never chooses it: it changes what is exchanged. Only for
   * f32 sums.
   */
  readonly partial?: boolean | undefined;
  /**
   * Whether it is made for several nodes of several ranks: `auto` chooses it only there,
   * and its cost accounts for the links between nodes. Default: it treats all ranks
   * alike.
   */
  readonly forNodes?: boolean | undefined;
  /**
   * Whether some ranks are servers. The plan sets their number, not the cost model, so
   * `auto` never chooses it. Default: all ranks do the same.
   */
  readonly hasServers?: boolean | undefined;
  /** Predicted seconds in the α–β–γ model: linear in its constants. */
  cost(shape: ExchangeShape, network: NetworkCost): number;
  /** Predicted bytes that the busiest rank sends, framing excluded. */
  wireBytes(shape: ExchangeShape): number;
  /**
   * Predicted bytes that pass the link of the busiest node in the busier direction;
   * default: each rank's bytes are spread evenly over all others (`node-links.ts`).
   */
  crossing?(shape: ExchangeShape, places: readonly number[]): number;
  /**
   * Runs an exchange. May overwrite the payload's memory, unless the sum is partial. The result's
   * memory is the communicator's scratch or the payload's own.
   */
  run(communicator: Communicator, payload: Payload): Promise<Combined>;
}
