/**
 * Guards of buckets whose gradient is not finite: training of ours ends with an error; under
 * a program of one's own the step is skipped, and the other ranks, which wait, get zeros.
 * Upholds invariant I5 (docs/architecture.md).
 */
import { bucketStream } from './streams.ts';
import type { GradientBucket, NotFiniteElement } from '../methods/bucket-compressor.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import type { GradientSite, SiteUndo } from '../sites/gradient-site.ts';
import { notFiniteError, type NotFinite } from './not-finite.ts';

interface GuardedBucket {
  readonly bucket: Bucket;
  readonly compressor: GradientBucket;
}

export interface NotFiniteGuard {
  /**
   * Meets an element that is not finite, found as a bucket begins or is compressed. On return the
   * bucket may be compressed.
   * @throws GradwireError `GRADIENT_NOT_FINITE`
   */
  meet(found: NotFiniteElement, exchange: GuardedBucket): void;
  /** A bucket is checked. */
  checked?(): void;
}

/** The exchange, in errors: `iteration` is its number there. */
type Place = Pick<NotFinite, 'iteration' | 'rank'>;

/** Refuses it: `GRADIENT_NOT_FINITE`, with tensor, iteration and rank. */
class RefusingGuard implements NotFiniteGuard {
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
  }

  meet({ index, value }: NotFiniteElement, { bucket }: GuardedBucket): never {
    const { iteration, rank } = this.#place;
    throw notFiniteError({ index, value, bucket, iteration, rank });
  }
}

interface GuardOptions extends Place {
  readonly clock: PhaseClock;
  readonly site: Pick<GradientSite, 'undo'>;
  /** Number of buckets. */
  readonly buckets: number;
  /** Whether values travel as they are, whatever they are. */
  readonly passes: boolean;
}

/**
 * Exchanges zeros instead, so that no rank waits for this one, and says so: all ranks then agree
 * that there is no average. What is sent as its own values is sent as it is. In the arena alone,
 * where a bucket is checked when the call returns.
 */
class SkippingGuard implements NotFiniteGuard {
  readonly #options: GuardOptions;
  readonly #undo: SiteUndo;
  readonly #told: (found: NotFinite | undefined) => void;
  #left: number;
  #found: NotFinite | undefined;

  /** @param told called once all are checked, with what was found first */
  constructor(options: GuardOptions, told: (found: NotFinite | undefined) => void) {
    const { undo } = options.site;
    if (undo === undefined) throw new Error('internal: a step that nobody takes back');
    this.#options = options;
    this.#undo = undo;
    this.#left = options.buckets;
    this.#told = told;
  }

  meet({ index, value }: NotFiniteElement, exchange: GuardedBucket): void {
    const { iteration, passes, rank } = this.#options;
    this.#found ??= { index, value, bucket: exchange.bucket, iteration, rank };
    if (!passes) this.#blank(exchange);
  }

  checked(): void {
    this.#left--;
    if (this.#left === 0) this.#told(this.#found);
  }

  /** Lets the bucket begin again with a gradient of zeros, and the residual that it had. */
  #blank({ bucket, compressor }: GuardedBucket): void {
    const ranges = bucket.runs.map(({ flat, length }) => ({ start: flat, length }));
    this.#undo.recall(ranges);
    this.#undo.blank(ranges);
    const begin = () => compressor.begin(true);
    const stream = bucketStream(bucket.index);
    const found = this.#options.clock.measure('compress', begin, stream);
    if (found instanceof Promise) throw new Error('internal: checked on a device');
  }
}

/**
 * The guard of an exchange.
 * @param told makes it skip; called once all buckets are checked, with what was found first
 */
export const notFiniteGuard = (
  options: GuardOptions,
  told?: (found: NotFinite | undefined) => void,
): NotFiniteGuard =>
  told === undefined ? new RefusingGuard(options) : new SkippingGuard(options, told);
