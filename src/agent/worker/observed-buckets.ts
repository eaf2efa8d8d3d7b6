/** The sums of what each bucket of an observed program costs, over intervals as the engine has them. */
import { failure } from '../../shared/errors/errors.ts';
import type { BucketSum, BucketSumsRecord } from '../../shared/records/bucket-sums.ts';
import type { BucketLayout, Stepped } from '../bridge/messages.ts';
import { nextInterval } from '../exchange/interval-lengths.ts';

export interface ObservedBucketsOptions {
  readonly rank: number;
  readonly ranks: number;
  readonly method: string;
  readonly collective: string;
  readonly report: (record: BucketSumsRecord) => void;
}

/** Sums of a bucket, milliseconds. */
interface Sums {
  exchanges: number;
  begin: number;
  end: number;
  wait: number;
  hidden: number;
}

export class ObservedBuckets {
  readonly #options: ObservedBucketsOptions;
  readonly #layout = new Map<number, BucketLayout>();
  #sums = new Map<number, Sums>();
  #from: number | undefined;
  #to = 0;
  #exchanges = 0;
  #isEncoded = false;
  /** Exchanges before the interval. */
  #before = 0;

  constructor(options: ObservedBucketsOptions) {
    this.#options = options;
  }

  /**
   * Adds a step; reports the interval that it ends, if it does.
   * @throws GradwireError `BRIDGE_INVALID`: a bucket that was not told
   */
  add(iteration: number, { layout, step }: Stepped): void {
    for (const bucket of layout) {
      this.#layout.set(bucket.place, bucket);
      this.#isEncoded ||= bucket.encoded;
    }
    const { buckets = [] } = step;
    if (buckets.length === 0) return;
    for (const [place, begin, end, wait, hidden] of buckets) {
      if (!this.#layout.has(place)) throw this.#unknown(place);
      const sums = this.#sums.get(place) ?? noSums();
      this.#sums.set(place, sums);
      sums.exchanges++;
      sums.begin += begin;
      sums.end += end;
      sums.wait += wait;
      sums.hidden += hidden;
    }
    this.#from ??= iteration;
    this.#to = iteration + 1;
    this.#exchanges++;
    if (this.#exchanges >= this.#length) this.close();
  }

  /** Whether a hook of the program has communicated a bucket, so that nobody knows what it sends. */
  get isEncoded(): boolean {
    return this.#isEncoded;
  }

  /** Reports the interval, complete or not. */
  close(): void {
    if (this.#exchanges === 0) return;
    const { collective, method, rank, report } = this.#options;
    report({
      type: 'bucket-sums',
      at: Date.now(),
      rank,
      from: this.#from!,
      to: this.#to,
      exchanges: this.#exchanges,
      buckets: [...this.#sums].map(([place, sums]): BucketSum => {
        const { bytes, dtype, encoded, length, name, tensors } =
          this.#layout.get(place)!;
        const { begin, end, exchanges, hidden, wait } = sums;
        return {
          name,
          tensors,
          ...(exchanges === this.#exchanges ? {} : { ownExchanges: exchanges }),
          ...(dtype === 'float32' ? {} : { dtype }),
          method,
          collective,
          length,
          ...(wait === 0 ? {} : { wait: rounded(wait) }),
          ...(hidden === 0 ? {} : { hidden: rounded(hidden) }),
          begin: rounded(begin),
          end: rounded(end),
          ...(encoded ? {} : { payload: exchanges * bytes }),
        };
      }),
    });
    this.#before += this.#exchanges;
    this.#exchanges = 0;
    this.#sums = new Map();
    this.#from = undefined;
  }

  get #length(): number {
    const all = [...this.#layout.values()];
    const elements = all.reduce((sum, { length }) => sum + length, 0);
    const { ranks } = this.#options;
    return nextInterval(this.#before, { buckets: all.length, elements, ranks });
  }

  #unknown(place: number): Error {
    return failure(
      'BRIDGE_INVALID',
      `the program sent times of bucket ${place}, of which it has told nothing`,
      {
        rank: this.#options.rank,
        next: 'Use the gradwire package of this version; if you do, report this as a bug.',
      },
    );
  }
}

const noSums = (): Sums => ({ exchanges: 0, begin: 0, end: 0, wait: 0, hidden: 0 });

/** Microseconds are enough of a sum. */
const rounded = (ms: number): number => Math.round(ms * 1e3) / 1e3;
