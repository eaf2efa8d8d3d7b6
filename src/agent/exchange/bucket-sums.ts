/**
 * Sums what each bucket of a plan costs over the exchanges of an interval. An exchange costs two
 * readings of the clock and a few additions for each bucket; the end of an interval, a pass over
 * the residual, and, where the gradient lies in the arena, one over what is to be sent.
 */
import { bucketName } from '../../shared/records/bucket-name.ts';
import type { BucketSum } from '../../shared/records/bucket-sums.ts';
import { residualOf, type ExchangeStatistics } from '../methods/method.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite } from '../sites/gradient-site.ts';
import { nextInterval } from './interval-lengths.ts';
import { bucketStream, CONTROL_STREAM } from './streams.ts';

/** A record of an interval, without the members that only the training loop knows. */
export interface BucketInterval {
  readonly from: number;
  /** The first iteration after the interval. */
  readonly to: number;
  readonly exchanges: number;
  readonly agreement?: number;
  readonly buckets: readonly BucketSum[];
}

/** A bucket's exchange that is over. */
interface Exchanged {
  readonly index: number;
  readonly statistics: ExchangeStatistics;
  readonly payload: number;
  readonly collective: string;
}

export interface BucketSumsOptions {
  readonly clock: PhaseClock;
  readonly buckets: readonly Bucket[];
  /** Ranks that exchange with each other. */
  readonly ranks: number;
  readonly site: Pick<GradientSite, 'isInMemory' | 'residual'>;
}

interface Sums {
  exchanges: number;
  begin: number;
  end: number;
  payload: number;
  nnzLocal: number | undefined;
  nnzReduced: number | undefined;
  /** Number of exchanges whose `nnzLocal` is known. */
  selections: number;
  /** Sum of `nnzLocal` over the exchanges whose `nnzReduced` is known too. */
  counted: number;
}

export class BucketSums {
  readonly #options: BucketSumsOptions;
  #sums: readonly Sums[];
  readonly #collectives: string[] = [];
  /** ‖p‖² of the interval's last exchange, by bucket. */
  #wanted: (number | undefined)[] = [];
  /** ‖residual‖² after the interval's last exchange, by bucket. */
  #kept: readonly (number | undefined)[] = [];
  /** The beginning of the exchange in progress, ms. */
  #begin = 0;
  #from: number | undefined;
  #to = 0;
  #exchanges = 0;
  /** Number of exchanges before the interval. */
  #before = 0;
  #length: number;

  constructor(options: BucketSumsOptions) {
    this.#options = options;
    this.#sums = options.buckets.map(noSums);
    this.#length = this.#nextLength();
  }

  /** Whether the exchange in progress is the interval's last. */
  get isLast(): boolean {
    return this.#exchanges + 1 === this.#length;
  }

  /** Whether the interval is complete. */
  get isDue(): boolean {
    return this.#exchanges >= this.#length;
  }

  /** An exchange begins. */
  begin(): void {
    this.#begin = performance.now();
    this.#wanted = [];
  }

  /** Runs `work`, which exchanges a bucket, and adds its begin and end to the bucket's sums. */
  async timed<T>(index: number, work: () => Promise<T>): Promise<T> {
    const sums = this.#sums[index]!;
    sums.begin += performance.now() - this.#begin;
    const result = await work();
    sums.end += performance.now() - this.#begin;
    return result;
  }

  /** Tells ‖p‖² of a bucket in the interval's last exchange. */
  wanted(index: number, squares: number | undefined): void {
    this.#wanted[index] = squares;
  }

  /**
   * Adds an exchange.
   * @param iteration its number in records
   * @param all buckets of the exchange: only those of models that stepped
   */
  add(iteration: number, all: readonly Exchanged[]): void {
    for (const { collective, index, payload, statistics } of all) {
      const sums = this.#sums[index]!;
      const { nnzLocal, nnzReduced } = statistics;
      this.#collectives[index] = collective;
      sums.exchanges++;
      sums.payload += payload;
      sums.nnzLocal = plus(sums.nnzLocal, nnzLocal);
      sums.nnzReduced = plus(sums.nnzReduced, nnzReduced);
      if (nnzLocal !== undefined) sums.selections++;
      if (nnzReduced !== undefined) sums.counted += nnzLocal ?? 0;
    }
    this.#from ??= iteration;
    this.#to = iteration + 1;
    this.#exchanges++;
  }

  /**
   * Measures what is kept back after the interval's last exchange, by a pass over the residual. Not
   * on a GPU, where the exchange would wait for one more result.
   */
  async measure(): Promise<void> {
    const { buckets, clock, site } = this.#options;
    if (!site.isInMemory) return;
    const kept: (number | undefined)[] = [];
    for (const { policy, runs } of buckets) {
      const ranges = runs.map(({ flat, length }) => ({ start: flat, length }));
      const squares =
        residualOf(policy.method, policy.parameters) === 'none'
          ? undefined
          : await clock.follow('compress', () => site.residual.squaredNorm(ranges));
      kept.push(squares);
    }
    this.#kept = kept;
  }

  /**
   * Ends the interval, complete or not. Call it once the clock has ended the exchange, because only
   * then are the hidden times known. Returns undefined if the interval has no exchange.
   */
  close(): BucketInterval | undefined {
    if (this.#exchanges === 0) return undefined;
    const { clock } = this.#options;
    const buckets = this.#options.buckets.filter(
      ({ index }) => this.#sums[index]!.exchanges > 0,
    );
    const control = Object.values(clock.streams.take(CONTROL_STREAM).phases);
    const interval: BucketInterval = {
      from: this.#from!,
      to: this.#to,
      exchanges: this.#exchanges,
      ...timesOf({ agreement: control.reduce((sum, time) => sum + time, 0) }),
      buckets: buckets.map(({ index, length, policy, tensors }) => {
        const { begin, counted, end, exchanges, nnzLocal, nnzReduced, payload } =
          this.#sums[index]!;
        const { selections } = this.#sums[index]!;
        const { hidden, phases, sent } = clock.streams.take(bucketStream(index));
        return {
          name: bucketName(tensors.map(({ name }) => name)),
          tensors: tensors.length,
          ...(exchanges === this.#exchanges ? {} : { ownExchanges: exchanges }),
          method: policy.method.id,
          collective: this.#collectives[index]!,
          length,
          ...timesOf({ ...phases, hidden }),
          begin: rounded(begin),
          end: rounded(end),
          payload,
          ...(sent === 0 ? {} : { sent }),
          ...(nnzLocal === undefined ? {} : { nnzLocal }),
          ...(nnzReduced === undefined ? {} : { nnzReduced }),
          ...(selections === 0 || selections === exchanges ? {} : { selections }),
          ...(nnzReduced === undefined || counted === nnzLocal
            ? {}
            : { nnzCounted: counted }),
          ...observed(this.#kept[index], this.#wanted[index]),
        };
      }),
    };
    this.#kept = [];
    this.#before += this.#exchanges;
    this.#exchanges = 0;
    this.#sums = this.#options.buckets.map(noSums);
    this.#from = this.#to;
    this.#length = this.#nextLength();
    return interval;
  }

  #nextLength(): number {
    const { buckets, ranks } = this.#options;
    const elements = buckets.reduce((sum, { length }) => sum + length, 0);
    return nextInterval(this.#before, { buckets: buckets.length, elements, ranks });
  }
}

const noSums = (): Sums => ({
  exchanges: 0,
  begin: 0,
  end: 0,
  payload: 0,
  nnzLocal: undefined,
  nnzReduced: undefined,
  selections: 0,
  counted: 0,
});

const plus = (
  sum: number | undefined,
  value: number | undefined,
): number | undefined => (value === undefined ? sum : (sum ?? 0) + value);

/** A time in ms, rounded to microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1e3) / 1e3;

/** The times above 0. A hidden time may be a little below 0 through rounding. */
function timesOf<K extends string>(
  times: Readonly<Record<K, number>>,
): Partial<Record<K, number>> {
  const passed: Partial<Record<K, number>> = {};
  for (const key of Object.keys(times) as K[]) {
    const time = rounded(times[key]);
    if (time > 0) passed[key] = time;
  }
  return passed;
}

/** Measures of a bucket's residual, as far as they are finite. */
function observed(
  kept: number | undefined,
  wanted: number | undefined,
): Pick<BucketSum, 'error' | 'residualNorm'> {
  const residualNorm = kept === undefined ? NaN : Math.sqrt(kept);
  const error =
    wanted === undefined || wanted === 0 ? NaN : residualNorm / Math.sqrt(wanted);
  return {
    ...(Number.isFinite(residualNorm) ? { residualNorm } : {}),
    ...(Number.isFinite(error) ? { error } : {}),
  };
}
