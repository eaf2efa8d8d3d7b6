/**
 * The α–β–γ model's constants for one world: what the costs of collectives are computed
 * from. Every cost is linear in them, so that it can be taken apart into what each
 * contributes (`cost-terms.ts`).
 *
 * Source: SparCML (Renggli et al., SC 2019), section 4; the constants per entry are ours:
 * merging and scattering cost more than a SIMD addition, and not in the same proportion
 * on every machine.
 */

/** α: s per message, β: s per byte, γ: s per element added. */
export interface NetworkCost {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  /** s per entry that goes into a merge of two sparse streams; absent: MERGE_COST·γ. */
  readonly merge?: number | undefined;
  /** s per entry added into a dense vector; absent: SCATTER_COST·γ. */
  readonly scatter?: number | undefined;
}

/**
 * What one entry costs to merge, in units of γ, where it was not measured: two streams of
 * random indices advance by branches that cannot be predicted.
 */
export const MERGE_COST = 14;
/** The same of an entry scattered into a dense vector: an addition at a random place. */
export const SCATTER_COST = 5;

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
