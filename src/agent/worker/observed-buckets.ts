/** The sums of what each bucket of an observed program costs, over intervals as the engine has them. */
import { failure, inputError } from '../../shared/errors/errors.ts';
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

/** Types of elements that a program may have if Gradwire is to exchange for it. */
const AVERAGED_TYPES: ReadonlySet<string> = new Set(['float32', 'float16', 'bfloat16']);

/** A program's own averages in a step. */
export interface OwnAverages {
  /** Averages of the whole model. */
  readonly times: number;
  /** Bytes of an element, divided by those of an f32: 0.5 for floats of 16 bits. */
  readonly width: number;
}

/** Sums of a bucket, milliseconds. */
interface Sums {
  exchanges: number;
  begin: number;
  end: number;
  wait: number;
  hidden: number;
  /** Bytes. */
  payload: number;
}

export class ObservedBuckets {
  readonly #options: ObservedBucketsOptions;
  readonly #layout = new Map<number, BucketLayout>();
  #sums = new Map<number, Sums>();
  #from: number | undefined;
  #to = 0;
  #exchanges = 0;
  #isEncoded = false;
  /** Elements averaged in the last step, each counted as often as it was averaged, and their bytes. */
  #averaged = { elements: 0, bytes: 0 };
  /** Buckets of the last step, and their elements: DDP forms new buckets after its first step. */
  #places = { count: 0, elements: 0 };
  /** Number of exchanges before the interval. */
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
    this.#averaged = { elements: 0, bytes: 0 };
    this.#places = { count: buckets.length, elements: 0 };
    for (const [place, begin, end, wait, hidden, averages] of buckets) {
      const bucket = this.#layout.get(place);
      if (bucket === undefined) throw this.#unknown(place);
      const sums = this.#sums.get(place) ?? noSums();
      this.#sums.set(place, sums);
      sums.exchanges++;
      sums.begin += begin;
      sums.end += end;
      sums.wait += wait;
      sums.hidden += hidden;
      sums.payload += averages * bucket.bytes;
      this.#averaged.elements += averages * bucket.length;
      this.#averaged.bytes += averages * bucket.bytes;
      this.#places.elements += bucket.length;
    }
    this.#from ??= iteration;
    this.#to = iteration + 1;
    this.#exchanges++;
    if (this.#exchanges >= this.#length) this.close();
  }

  /** All that was told of buckets, by place. */
  get layout(): ReadonlyMap<number, BucketLayout> {
    return this.#layout;
  }

  /** Whether a hook of the program has communicated a bucket, so that nobody knows what it sends. */
  get isEncoded(): boolean {
    return this.#isEncoded;
  }

  /**
   * Averages of the whole model in the last step.
   * @param elements of the model
   * @throws GradwireError `FORESIGHT_UNAVAILABLE` if it averages something else
   */
  averagesOf(elements: number): OwnAverages {
    const types = [...this.#layout.values()].map(({ dtype }) => dtype);
    const odd = types.find((type) => !AVERAGED_TYPES.has(type));
    const { bytes, elements: averaged } = this.#averaged;
    const times = averaged / elements;
    const why = this.#isEncoded
      ? 'a hook of the program’s communicates, and what it sends is not seen'
      : odd !== undefined
        ? `the program averages elements of ${odd}, which one that joins cannot`
        : times >= 1 && Number.isInteger(times)
          ? undefined
          : times === 0
            ? 'no bucket of DistributedDataParallel was seen'
            : `a step averages ${averaged} elements, and its first model has ${elements}`;
    if (why === undefined) return { times, width: bytes / (4 * averaged) };
    throw inputError('FORESIGHT_UNAVAILABLE', why, {
      place: `rank ${this.#options.rank}`,
      next: 'Let it join, and switch.',
    });
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
        const { dtype, encoded, length, name, tensors } = this.#layout.get(place)!;
        const { begin, end, exchanges, hidden, payload, wait } = sums;
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
          ...(encoded ? {} : { payload }),
        };
      }),
    });
    this.#before += this.#exchanges;
    this.#exchanges = 0;
    this.#sums = new Map();
    this.#from = undefined;
  }

  get #length(): number {
    const { count, elements } = this.#places;
    const { ranks } = this.#options;
    return nextInterval(this.#before, { buckets: count, elements, ranks });
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

const noSums = (): Sums => ({
  exchanges: 0,
  begin: 0,
  end: 0,
  wait: 0,
  hidden: 0,
  payload: 0,
});

/** Microseconds are enough of a sum. */
const rounded = (ms: number): number => Math.round(ms * 1e3) / 1e3;
