/**
 * Guards of buckets whose gradient is not finite: training of ours ends with an error; under
 * a program of one's own the step is skipped, and the other ranks, which wait, get zeros.
 * Upholds invariant I5 (docs/architecture.md).
 */
import { bucketStream } from './streams.ts';
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import type { GradwireError } from '../../shared/errors/errors.ts';
import type { GradientBucket, NotFiniteElement } from '../methods/bucket-compressor.ts';
import type { Payload } from '../memory/payload.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite, SiteUndo } from '../sites/gradient-site.ts';
import { NotFiniteInput } from '../work/not-finite-input.ts';
import type { Answer } from '../work/steps.ts';
import { notFiniteError, type NotFinite } from './not-finite.ts';

type Encode = () => Answer<Payload>;

interface GuardedBucket {
  readonly bucket: Bucket;
  readonly compressor: GradientBucket;
}

export interface NotFiniteGuard {
  /**
   * Begins a bucket.
   * @param isFinite whether its gradient is known to be finite
   * @returns what must resolve before anything leaves this rank; undefined if nothing must
   */
  begin(exchange: GuardedBucket, isFinite: boolean): Promise<void> | undefined;
  /** Compresses a bucket that is one message, by `encode`. */
  encode(exchange: GuardedBucket, encode: Encode): Answer<Payload>;
}

interface GuardOptions {
  readonly clock: PhaseClock;
  readonly site: GradientSite;
  /** The iteration's number in errors. */
  readonly iteration: number;
  readonly rank: number;
}

/** Refuses it: `GRADIENT_NOT_FINITE`, with tensor, iteration and rank. */
export class RefusingGuard implements NotFiniteGuard {
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  begin(exchange: GuardedBucket, isFinite: boolean): Promise<void> | undefined {
    const { clock } = this.#options;
    const found = clock.follow(
      'compress',
      () => exchange.compressor.begin(isFinite),
      streamOf(exchange),
    );
    const require = (element: NotFiniteElement | undefined): void => {
      if (element !== undefined) throw this.#error(element, exchange);
    };
    if (!(found instanceof Promise)) {
      require(found);
      return undefined;
    }
    const finite = found.then(require);
    finite.catch(awaitedElsewhere);
    return finite;
  }

  encode(exchange: GuardedBucket, encode: Encode): Answer<Payload> {
    const refuse = (error: unknown): never => {
      if (!(error instanceof NotFiniteInput)) throw error;
      throw this.#error(error, exchange);
    };
    try {
      const encoded = this.#options.clock.follow(
        'compress',
        encode,
        streamOf(exchange),
      );
      return encoded instanceof Promise ? encoded.catch(refuse) : encoded;
    } catch (error) {
      return refuse(error);
    }
  }

  #error({ index, value }: NotFiniteElement, { bucket }: GuardedBucket): GradwireError {
    const { iteration, rank } = this.#options;
    return notFiniteError({ index, value, bucket, iteration, rank });
  }
}

/**
 * Exchanges zeros instead, so that no rank waits for this one, and says so: all ranks then agree
 * that there is no average. What is sent as its own values is sent as it is. In the arena alone,
 * where a bucket is checked when the call returns.
 */
export class SkippingGuard implements NotFiniteGuard {
  readonly #options: GuardOptions;
  readonly #undo: SiteUndo;
  readonly #checked: (found: NotFinite | undefined) => void;
  readonly #passes: boolean;
  #left: number;
  #found: NotFinite | undefined;

  /**
   * @param options `passes`: whether values travel as they are, whatever they are; `buckets`: their number
   * @param checked called once all are checked, with what was found first
   */
  constructor(
    options: GuardOptions & { readonly buckets: number; readonly passes: boolean },
    checked: (found: NotFinite | undefined) => void,
  ) {
    const { undo } = options.site;
    if (undo === undefined) throw new Error('internal: a step that nobody takes back');
    this.#options = options;
    this.#undo = undo;
    this.#passes = options.passes;
    this.#left = options.buckets;
    this.#checked = checked;
  }

  begin(exchange: GuardedBucket, isFinite: boolean): undefined {
    const { bucket, compressor } = exchange;
    const element = this.#begin(exchange, isFinite);
    if (element !== undefined) this.#note(element, bucket);
    if (element !== undefined && !this.#passes) this.#blank(exchange);
    // Others are checked as they are compressed.
    if (compressor.talks) this.#count();
    return undefined;
  }

  encode(exchange: GuardedBucket, encode: Encode): Answer<Payload> {
    const encoded = this.#encode(exchange, encode);
    this.#count();
    return encoded;
  }

  #begin(exchange: GuardedBucket, isFinite: boolean): NotFiniteElement | undefined {
    const { clock } = this.#options;
    const found = clock.measure(
      'compress',
      () => exchange.compressor.begin(isFinite),
      streamOf(exchange),
    );
    if (found instanceof Promise) throw new Error('internal: checked on a device');
    return found;
  }

  #encode(exchange: GuardedBucket, encode: Encode): Answer<Payload> {
    const { clock } = this.#options;
    const timed = (): Answer<Payload> =>
      clock.follow('compress', encode, streamOf(exchange));
    try {
      return timed();
    } catch (error) {
      if (!(error instanceof NotFiniteInput)) throw error;
      this.#note(error, exchange.bucket);
      this.#blank(exchange);
      return timed();
    }
  }

  /** Lets the bucket begin again with a gradient of zeros, and the residual that it had. */
  #blank(exchange: GuardedBucket): void {
    const { bucket } = exchange;
    const ranges = bucket.runs.map(({ flat, length }) => ({ start: flat, length }));
    this.#undo.recall(ranges);
    this.#undo.blank(ranges);
    this.#begin(exchange, true);
  }

  #note({ index, value }: NotFiniteElement, bucket: Bucket): void {
    const { iteration, rank } = this.#options;
    this.#found ??= { index, value, bucket, iteration, rank };
  }

  #count(): void {
    this.#left--;
    if (this.#left === 0) this.#checked(this.#found);
  }
}

const streamOf = ({ bucket }: GuardedBucket): number => bucketStream(bucket.index);
