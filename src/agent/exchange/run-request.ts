/** The request for one exchange to a plan's execution. */
import type { Payload } from '../memory/payload.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { ModelPart } from './model-part.ts';
import type { NotFinite } from './not-finite.ts';
import type { Readiness } from './readiness.ts';

/** Takes a bucket's payload; resolves when its memory may be reused. */
export type TakePayload = (bucket: Bucket, payload: Payload) => Promise<void>;

export interface RunOptions {
  /** The part of the gradient that is ready; default: all of it. */
  readonly readiness?: Readiness | undefined;
  /** The iteration's number in errors. */
  readonly named?: number | undefined;
  /** Whether the gradient is known to be finite; otherwise it is checked. */
  readonly isFinite?: boolean | undefined;
  /** Receives the payloads instead of the other ranks; the gradient is then overwritten. */
  readonly take?: TakePayload | undefined;
  /**
   * Takes what is not finite, if anything, once all buckets are checked; default: such a gradient is
   * refused.
   */
  readonly checked?: ((found: NotFinite | undefined) => void) | undefined;
  /** The models whose buckets are exchanged; default: all buckets. */
  readonly part?: ModelPart | undefined;
}
