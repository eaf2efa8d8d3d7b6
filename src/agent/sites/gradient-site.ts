/**
 * Where the flat gradient lives while it is exchanged, and what is done to it there: the
 * arena, worked on by the CPU's kernels, or the GPU that the trainer computes on. An
 * exchange plan opens its buckets at a site and knows payloads alone, which lie in the
 * arena at either.
 */
import type { Notice } from '../../shared/records.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Vector } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Communicate,
  ExchangeStatistics,
  MethodDefinition,
} from '../compression/method.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { Residual } from './residual-memory.ts';

export interface BucketSetup {
  readonly bucket: Bucket;
  readonly method: MethodDefinition;
  /** Validated by the method's schema. */
  readonly parameters: JsonObject;
  readonly seed: number;
  readonly rank: number;
  readonly world: number;
}

/** An element of a bucket that is NaN or infinite. */
export interface NotFiniteElement {
  readonly index: number;
  readonly value: number;
}

/**
 * A bucket of the gradient with the compressor of its method: as `Compressor`, with the
 * vectors given. What a GPU does answers later; nothing answers later on the CPU.
 */
export interface GradientBucket extends Disposable {
  /**
   * Begins an exchange, before `encode` or `exchange`: gathers the bucket's elements where
   * they lie apart, and gives the first that is not finite. `encode` may throw
   * `NotFiniteInput` where this found nothing: some methods look as they compress.
   */
  begin(): Answer<NotFiniteElement | undefined>;
  encode(iteration: number): Answer<Payload>;
  /** The average over ranks, in place of the bucket's gradient. */
  decode(combined: Combined, iteration: number): Answer<ExchangeStatistics>;
  /** Of methods that talk more than once in an exchange. */
  exchange?(iteration: number, communicate: Communicate): Promise<ExchangeStatistics>;
  /** All state of its method but the residual, between two exchanges. */
  saveState(): Answer<Uint8Array>;
  /** @throws GradwireError `METHOD_STATE_INVALID` */
  restoreState(state: Uint8Array): void;
}

export type Answer<T> = T | Promise<T>;

export interface GradientSite extends Disposable {
  /** What the methods of this run keep back. */
  readonly residual: Residual;
  /** Made for the life of a plan; the residual is kept for the next one. */
  open(setup: BucketSetup): GradientBucket;
  /** The gradient becomes this one, of a vector in the arena. */
  take(gradient: Vector): void;
  /**
   * Resolves when everything that was asked for is done, so that time is not taken for
   * that of whoever works here next; undefined where nothing is under way.
   */
  settled(): Promise<void> | undefined;
  /** Notices of what the plan does elsewhere than here; each is returned once. */
  takeNotices(): Notice[];
}
