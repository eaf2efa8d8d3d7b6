/**
 * The site where the flat gradient is stored and processed during an exchange: the arena, with the
 * CPU's kernels; memory outside of it, with windows in the arena; or the GPU that the trainer computes on. An exchange plan opens its buckets at a
 * site and handles only payloads, which are always in the arena.
 */
import type { JsonObject } from '../../shared/checks/json.ts';
import type { Notice } from '../../shared/records/notice.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import type { MethodDefinition } from '../methods/method.ts';
import type { Vector } from '../memory/arena.ts';
import type { Bucket } from '../plan/buckets.ts';
import type { Answer } from '../work/steps.ts';
import type { FlatRange } from '../plan/residual-transition.ts';
import type { Residual } from './residual-memory.ts';

export interface BucketSetup {
  readonly bucket: Bucket;
  readonly method: MethodDefinition;
  /** Parameters that the method's schema has validated. */
  readonly parameters: JsonObject;
  readonly seed: number;
  readonly rank: number;
  readonly world: number;
}

/** Takes back what an exchange does at a site. */
export interface SiteUndo extends Disposable {
  /** Keeps the residual as it is now, in the ranges if given. */
  remember(ranges?: readonly FlatRange[]): void;
  /** Gives these elements of the residual the values that were kept. */
  recall(ranges: readonly FlatRange[]): void;
  /** Replaces these elements of the gradient by 0. */
  blank(ranges: readonly FlatRange[]): void;
}

export interface GradientSite extends Disposable {
  /** Whether a vector can be read without waiting for a device. */
  readonly isInMemory: boolean;
  /** The residual of this run's methods. */
  readonly residual: Residual;
  /** The way to take an exchange back; undefined on a GPU, where none can be. */
  readonly undo?: SiteUndo | undefined;
  /** Prepares memory for a plan's buckets, before they are opened; the last plan's are closed. */
  prepare?(buckets: readonly Bucket[]): void;
  /** The bucket that must have ended before this one begins: both use the same memory. */
  predecessor?(index: number): number | undefined;
  /** Opens a bucket for the life of a plan; the residual is kept for the next one. */
  open(setup: BucketSetup): GradientBucket;
  /**
   * Scales the gradient so that its norm is at most this; one that is not finite stays as it is,
   * for the checks of its buckets.
   * @returns the factor: 1 if it was no longer
   */
  clip(norm: number): Answer<number>;
  /** Replaces the gradient by a vector in the arena. */
  take(gradient: Vector): void;
  /**
   * Resolves when all requested work is done, so that its time does not count for later
   * work; undefined if nothing is in progress.
   */
  settled(): Promise<void> | undefined;
  /** Notices about parts of the plan that run elsewhere; each is returned once. */
  takeNotices(): Notice[];
}
