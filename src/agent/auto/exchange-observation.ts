/**
 * What one exchange showed, as a few numbers that travel with the control message of the
 * next: how long it took, what the cost model says of the messages that it consisted of,
 * and, of buckets whose collective is ours to choose, how much was sent and how much the
 * result filled in. Combined over ranks, so that all ranks know the same:
 *
 * - the time of the exchange is the least of any rank: who comes last waits for nobody, and
 *   what the others waited for it is no property of the network;
 * - everything else is the most of any rank.
 *
 * Cost: 5 + 2·buckets numbers; O(1) a message, but for a sample of a dense result.
 */
import type { CostTerms } from '../../shared/cost-model/cost-terms.ts';
import { addTerms, NO_COST } from '../../shared/cost-model/cost-terms.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';

/** Of a bucket: entries that a rank sent, entries of the reduced result. */
export interface Sparsity {
  readonly nnz: number;
  readonly nnzReduced: number;
}

export interface Observation {
  /** Seconds of sending, receiving, waiting and reducing. */
  readonly seconds: number;
  /** Seconds of compression and decompression. */
  readonly overhead: number;
  /** Of all messages, by the constants before any correction. */
  readonly terms: CostTerms;
  /** By place among the watched buckets; undefined where nothing sparse was seen. */
  readonly sparsity: readonly (Sparsity | undefined)[];
}

/** Nothing was observed: less than any observation. */
const ABSENT = -1;
const FIXED = ['min', 'max', 'max', 'max', 'max'] as const;

export class ExchangeRecorder {
  readonly #watched: number;
  #terms: CostTerms = NO_COST;
  #sparsity: (Sparsity | undefined)[];
  #usable = true;
  #finished: Observation | undefined;

  /** @param watched buckets */
  constructor(watched: number) {
    this.#watched = watched;
    this.#sparsity = new Array<undefined>(watched).fill(undefined);
  }

  /** How the numbers of `report` combine over ranks. */
  get operations(): readonly SmallOperation[] {
    return [...FIXED, ...new Array<'max'>(2 * this.#watched).fill('max')];
  }

  /** The last exchange that has ended, or that there was none to learn from. */
  get report(): readonly number[] {
    const seen = this.#finished;
    if (seen === undefined) return this.operations.map(() => ABSENT);
    const { latency, bandwidth, reduction } = seen.terms;
    return [
      seen.seconds,
      seen.overhead,
      latency,
      bandwidth,
      reduction,
      ...seen.sparsity.flatMap((sparsity) => [
        sparsity?.nnz ?? ABSENT,
        sparsity?.nnzReduced ?? ABSENT,
      ]),
    ];
  }

  /** A message's predicted terms. */
  message(terms: CostTerms): void {
    this.#terms = addTerms(this.#terms, terms);
  }

  sparse(watched: number, sparsity: Sparsity): void {
    this.#sparsity[watched] = sparsity;
  }

  /** This exchange is not what the plan is about: a warm-up, for example. */
  disregard(): void {
    this.#usable = false;
  }

  /** The exchange has ended: `report` is about it. */
  finish(seconds: number, overhead: number): void {
    const { reduction, latency, bandwidth } = this.#terms;
    const communicated = latency + bandwidth + reduction > 0;
    this.#finished =
      this.#usable && communicated
        ? { seconds, overhead, terms: this.#terms, sparsity: this.#sparsity }
        : undefined;
    this.#terms = NO_COST;
    this.#sparsity = new Array<undefined>(this.#watched).fill(undefined);
    this.#usable = true;
  }
}

/** What all ranks together reported; undefined where a rank had nothing to report. */
export function observationOf(agreed: readonly number[]): Observation | undefined {
  const [seconds, overhead, latency, bandwidth, reduction, ...rest] =
    agreed as readonly [number, number, number, number, number, ...number[]];
  if (seconds < 0) return undefined;
  const sparsity: (Sparsity | undefined)[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const nnz = rest[at]!;
    const nnzReduced = rest[at + 1]!;
    sparsity.push(nnz < 0 ? undefined : { nnz, nnzReduced });
  }
  return { seconds, overhead, terms: { latency, bandwidth, reduction }, sparsity };
}
