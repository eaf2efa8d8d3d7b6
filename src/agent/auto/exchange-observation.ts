/**
 * Observations of one exchange, as a few numbers in the control message of the next: its
 * time, the cost model's prediction for its messages and, for buckets under `auto`, the bytes
 * that a rank sent for summing and the fill-in of sparse results. They are combined over
 * ranks, so that all know the same:
 *
 * - the time of an exchange is the mean over the ranks of the time since their last one ended, less the longest
 *   that one of them spent outside of exchanges meanwhile: waiting for the slowest rank is not a property of the
 *   network. No single rank tells it. The last to arrive finds the others' data there, and what it sends itself
 *   its network card carries while it computes again; the others wait for that, begin later, and are the last
 *   next time. The time is never less than what the rank that waits least spends. It is a lower bound: a rank that
 *   computes longer than the others hides what is sent meanwhile;
 * - everything else is the maximum over ranks.
 *
 * Cost: 7 + 2·buckets numbers; O(1) a message, except for a sample of a dense result.
 */
import type { CostTerms } from '../../shared/cost-model/cost-terms.ts';
import { addTerms, NO_COST } from '../../shared/cost-model/cost-terms.ts';
import type { SmallOperation } from '../collectives/small-allreduce.ts';

/** Sizes of what a rank sent for summing in an exchange, for one bucket. */
export interface Sums {
  /** Bytes of all its payloads. */
  readonly bytes: number;
  /** Entries of the reduced results, if payloads are sparse. */
  readonly nnzReduced?: number | undefined;
}

export interface Observation {
  /** Seconds of sending, receiving, waiting and reducing: of a rank, or of the exchange once it is combined. */
  readonly seconds: number;
  /** Seconds of compression and decompression. */
  readonly overhead: number;
  /** Costs predicted for all messages, by the uncorrected constants. */
  readonly terms: CostTerms;
  /** Sums by watched bucket; undefined if nothing was summed. */
  readonly sums: readonly (Sums | undefined)[];
}

/** A rank's own observation. Plain data. */
export interface Finished extends Observation {
  /** Seconds from the end of the exchange before; undefined for the first under a plan or after a checkpoint. */
  readonly period?: number | undefined;
}

/** Marks a missing observation: less than any real one. */
const ABSENT = -1;
const FIXED = ['min', 'sum', 'max', 'max', 'max', 'max', 'max'] as const;

export class ExchangeRecorder {
  readonly #watched: number;
  readonly #ranks: number;
  /** Operations by which the reported numbers combine over ranks. */
  readonly operations: readonly SmallOperation[];
  #terms: CostTerms = NO_COST;
  #sums: (Sums | undefined)[];
  #usable = true;
  #finished: Finished | undefined;
  /** The moment at which the last exchange ended, in seconds. */
  #endedAt: number | undefined;

  /** @param watched buckets */
  constructor(watched: number, ranks: number) {
    this.#watched = watched;
    this.#ranks = ranks;
    this.operations = [...FIXED, ...new Array<'max'>(2 * watched).fill('max')];
    this.#sums = new Array<undefined>(watched).fill(undefined);
  }

  /** The observation to report, between two exchanges. */
  save(): Finished | undefined {
    return this.#finished;
  }

  restore(finished: Finished | undefined): void {
    this.#finished = finished;
  }

  /** The report on the last exchange, or on the absence of one. */
  get report(): readonly number[] {
    const seen = this.#finished;
    if (seen === undefined) return this.operations.map(() => ABSENT);
    const { period, seconds, overhead } = seen;
    const { latency, bandwidth, reduction } = seen.terms;
    // Where a rank has no period, none counts.
    const [share, outside] =
      period === undefined ? [0, Infinity] : [period / this.#ranks, period - seconds];
    const report = [seconds, share, outside, overhead, latency, bandwidth, reduction];
    for (const sums of seen.sums) {
      report.push(sums?.bytes ?? ABSENT, sums?.nnzReduced ?? ABSENT);
    }
    return report;
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

  /** Leaves out this exchange, which is unusual for the plan: a warm-up, for example. */
  disregard(): void {
    this.#usable = false;
  }

  /**
   * The exchange has ended: `report` is about it.
   * @param endedAt the moment, in seconds of a clock of this process
   */
  finish(seconds: number, overhead: number, endedAt: number): void {
    const { reduction, latency, bandwidth } = this.#terms;
    const period = this.#endedAt === undefined ? undefined : endedAt - this.#endedAt;
    this.#endedAt = endedAt;
    const communicated = latency + bandwidth + reduction > 0;
    this.#finished =
      this.#usable && communicated
        ? { seconds, period, overhead, terms: this.#terms, sums: this.#sums }
        : undefined;
    this.#terms = NO_COST;
    this.#sums = new Array<undefined>(this.#watched).fill(undefined);
    this.#usable = true;
  }
}

/** The combined report of all ranks; undefined if a rank had nothing to report. */
export function observationOf(agreed: readonly number[]): Observation | undefined {
  const [least, period, outside, overhead, latency, bandwidth, reduction, ...rest] =
    agreed as readonly [
      ...[number, number, number, number, number, number, number],
      ...number[],
    ];
  if (least < 0) return undefined;
  const seconds = Math.max(least, period - outside);
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
