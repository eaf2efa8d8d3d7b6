/**
 * What one exchange showed, as a few numbers that travel with the control message of the
 * next: how long it took, what the cost model says of the messages that it consisted of,
 * and, of buckets whose collective is ours to choose, the bytes that a rank gave to be summed
 * and how far a sparse result has filled in. Combined over ranks, so that all know the same:
 *
 * - the time of an exchange is the minimum over ranks: the last rank to arrive waits for no
 *   other, and the others' wait for it is not a property of the network;
 * - everything else is the maximum over ranks.
 *
 * Cost: 5 + 2·buckets numbers; O(1) a message, except for a sample of a dense result.
 */
import type { CostTerms } from '../../shared/cost-model/cost-terms.ts';
import { addTerms, NO_COST } from '../../shared/cost-model/cost-terms.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';

/** Of a bucket: what a rank gave to be summed in an exchange. */
export interface Sums {
  /** Of all its payloads. */
  readonly bytes: number;
  /** Entries of the reduced results, where payloads are sparse. */
  readonly nnzReduced?: number | undefined;
}

export interface Observation {
  /** Seconds of sending, receiving, waiting and reducing. */
  readonly seconds: number;
  /** Seconds of compression and decompression. */
  readonly overhead: number;
  /** Of all messages, by the constants before any correction. */
  readonly terms: CostTerms;
  /** By place among the watched buckets; undefined where nothing was summed. */
  readonly sums: readonly (Sums | undefined)[];
}

/** Nothing was observed: less than any observation. */
const ABSENT = -1;
const FIXED = ['min', 'max', 'max', 'max', 'max'] as const;

export class ExchangeRecorder {
  readonly #watched: number;
  #terms: CostTerms = NO_COST;
  #sums: (Sums | undefined)[];
  #usable = true;
  #finished: Observation | undefined;

  /** @param watched buckets */
  constructor(watched: number) {
    this.#watched = watched;
    this.#sums = new Array<undefined>(watched).fill(undefined);
  }

  /** Between two exchanges: what `report` is about. */
  save(): Observation | undefined {
    return this.#finished;
  }

  restore(finished: Observation | undefined): void {
    this.#finished = finished;
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
      ...seen.sums.flatMap((sums) => [
        sums?.bytes ?? ABSENT,
        sums?.nnzReduced ?? ABSENT,
      ]),
    ];
  }

  /** A message's predicted terms. */
  message(terms: CostTerms): void {
    this.#terms = addTerms(this.#terms, terms);
  }

  /** A sum of a watched bucket. */
  summed(watched: number, { bytes, nnzReduced }: Sums): void {
    const before = this.#sums[watched];
    this.#sums[watched] = {
      bytes: bytes + (before?.bytes ?? 0),
      nnzReduced:
        nnzReduced === undefined
          ? before?.nnzReduced
          : nnzReduced + (before?.nnzReduced ?? 0),
    };
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
        ? { seconds, overhead, terms: this.#terms, sums: this.#sums }
        : undefined;
    this.#terms = NO_COST;
    this.#sums = new Array<undefined>(this.#watched).fill(undefined);
    this.#usable = true;
  }
}

/** What all ranks together reported; undefined where a rank had nothing to report. */
export function observationOf(agreed: readonly number[]): Observation | undefined {
  const [seconds, overhead, latency, bandwidth, reduction, ...rest] =
    agreed as readonly [number, number, number, number, number, ...number[]];
  if (seconds < 0) return undefined;
  const sums: (Sums | undefined)[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const bytes = rest[at]!;
    const nnzReduced = rest[at + 1]!;
    sums.push(
      bytes < 0
        ? undefined
        : { bytes, nnzReduced: nnzReduced < 0 ? undefined : nnzReduced },
    );
  }
  return { seconds, overhead, terms: { latency, bandwidth, reduction }, sums };
}
