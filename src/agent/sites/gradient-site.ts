/**
 * Where the flat gradient lives while it is exchanged, and what is done to it there: the
 * arena, worked on by the CPU's kernels, or the GPU that the trainer computes on. An
 * exchange plan opens its buckets at a site and knows payloads alone, which are in the
 * arena at either.
 */
import type { Notice } from '../../shared/records.ts';
import type { JsonObject } from '../../shared/json.ts';
import type { Vector } from '../memory/arena.ts';
import type { GradientBucket } from '../compression/bucket-compressor.ts';
import type { MethodDefinition } from '../compression/method.ts';
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

export interface GradientSite extends Disposable {
  /** What the methods of this run keep back. */
  readonly residual: Residual;
  /** Made for the life of a plan; the residual is kept for the next one. */
  open(setup: BucketSetup): GradientBucket;
  /** The gradient becomes this one, of a vector in the arena. */
  take(gradient: Vector): void;
  /**
   * Resolves when everything that was asked for is done, so that time is not taken for
   * that of the next work here; undefined if nothing is in progress.
   */
  settled(): Promise<void> | undefined;
  /** Notices of what the plan does elsewhere than here; each is returned once. */
  takeNotices(): Notice[];
}
