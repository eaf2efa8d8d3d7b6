/**
 * Guards against gradients that are not finite. Training by Gradwire's own trainers ends with an
 * error. A user's program skips the step: the other ranks, which wait for this one, get zeros.
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
  /** Called for each bucket once it has been checked. */
  checked?(): void;
}

/** The exchange as errors name it; `iteration` is its number in messages. */
type Place = Pick<NotFinite, 'iteration' | 'rank'>;

/** Throws `GRADIENT_NOT_FINITE`, with tensor, iteration and rank. */
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
  /** Whether gradients travel uncompressed, and so may contain NaN and infinity. */
  readonly passes: boolean;
}

/**
 * Exchanges zeros in place of a bucket that is not finite, so that no rank waits for this one, and
 * reports it: all ranks then agree that there is no average. Uncompressed values are sent as they
 * are. Works only for gradients in the arena, where the check of a bucket ends with its call.
 */
class SkippingGuard implements NotFiniteGuard {
  readonly #options: GuardOptions;
  readonly #undo: SiteUndo;
  readonly #told: (found: NotFinite | undefined) => void;
  #left: number;
  #found: NotFinite | undefined;

  /** @param told called once all buckets are checked, with the first element found */
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

  /** Begins the bucket again, with a gradient of zeros and the residual from before the exchange. */
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
 * @param told if given, the guard skips instead of throwing, and calls this once all buckets are
 * checked, with the first element found
 */
export const notFiniteGuard = (
  options: GuardOptions,
  told?: (found: NotFinite | undefined) => void,
): NotFiniteGuard =>
  told === undefined ? new RefusingGuard(options) : new SkippingGuard(options, told);
