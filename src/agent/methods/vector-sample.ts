/**
 * Statistics of a vector from a sample of its elements, for estimates that are corrected
 * afterwards. A short vector is summed whole. Of a long one it takes an entry from each of
 * 16,384 equal stretches, at places that do not run along the columns of a matrix and are
 * the same on every backend. A deviation from that many is right to 0.6 % (normal elements), and
 * costs the same for any length.
 *
 * Cost: 256 KiB of memory; on a GPU 64 KiB are read back.
 */
import type { FixedSums } from '../kernels/fixed-point.ts';
import { roomBytes, type StreamRoom } from '../kernels/sparsification.ts';
import type { Vector } from '../memory/arena.ts';
import type { Entries } from '../work/selection.ts';
import { wait, type Steps } from '../work/steps.ts';
import type { Work } from '../work/work.ts';

const SAMPLED = 16_384;
/** Multiples of it, modulo 1, are spread evenly. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

export class VectorSample<V> {
  readonly #work: Work<V>;
  /** Entries of the sample; undefined if vectors are summed whole. */
  readonly #entries: Entries<V> | undefined;
  /** Room in which those that reach a threshold are collected to be counted. */
  readonly #room: StreamRoom | undefined;
  #values: Vector | undefined;

  /** @param length of the vectors */
  constructor(work: Work<V>, length: number) {
    this.#work = work;
    if (length <= SAMPLED) return;
    const room = work.entries(SAMPLED);
    const { offset } = room.list(SAMPLED);
    work.arena.u32(offset, SAMPLED).set(sampledIndices(length));
    this.#entries = room.named(SAMPLED);
    this.#room = { offset: work.region(roomBytes(SAMPLED)).offset, capacity: SAMPLED };
  }

  /** Sums of the sampled elements, or of all. */
  *fixedSums(x: V): Steps<FixedSums> {
    const work = this.#work;
    const entries = this.#entries;
    if (entries === undefined) {
      const [sums] = yield* wait(work.fixedSums([x]));
      return sums!;
    }
    entries.gather(x);
    this.#values = yield* wait(entries.values());
    return work.kernels.quantization.fixedSums(this.#values);
  }

  /** Number of elements that are sampled; 0 if vectors are summed whole. */
  get size(): number {
    return this.#values?.length ?? 0;
  }

  /** Counts those summed last that have a magnitude of at least `threshold`. */
  reaching(threshold: number): number {
    const { sparsification } = this.#work.kernels;
    const room = this.#room!;
    return sparsification.appendAtLeast(this.#values!, threshold, 0, room, 0, SAMPLED);
  }

  /** The k-th largest magnitude of those, 1 ≤ k ≤ size. */
  kthMagnitude(k: number): number {
    return this.#work.kernels.sparsification.kthMagnitude(this.#values!, k);
  }
}

/** Indices of a sample, ascending, one of each stretch of length / SAMPLED elements. */
export function sampledIndices(length: number): Uint32Array {
  return Uint32Array.from({ length: SAMPLED }, (_, i) => {
    const within = (i * GOLDEN_RATIO) % 1;
    return Math.floor(((i + within) / SAMPLED) * length);
  });
}
