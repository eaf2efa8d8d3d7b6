/**
 * The state that a plan's buckets keep between exchanges besides the residual: methods' and
 * collectives'. It is saved, restored, and carried over to the next plan.
 */
import { toErrorData } from '../../shared/errors/errors.ts';
import type { BucketCarrier } from '../auto/collective-choice.ts';
import type { GradientBucket } from '../methods/bucket-compressor.ts';
import type { Bucket } from '../plan/buckets.ts';
import {
  stateFor,
  stateTransition,
  type BucketState,
  type StateTransition,
} from './carried-state.ts';
import type { CollectiveGroup } from './collective-group.ts';
import type { ModelPart } from './model-part.ts';
import { bucketStream } from './streams.ts';

interface StatefulBucket {
  readonly bucket: Bucket;
  readonly compressor: GradientBucket;
  readonly carrier: BucketCarrier;
}

export class BucketStates {
  readonly #buckets: readonly StatefulBucket[];
  readonly #group: CollectiveGroup;

  constructor(buckets: readonly StatefulBucket[], group: CollectiveGroup) {
    this.#buckets = buckets;
    this.#group = group;
  }

  /** The buckets' state between exchanges, for the next plan. */
  async leave(): Promise<readonly BucketState[]> {
    return await Promise.all(
      this.#buckets.map(async ({ bucket, compressor }) => {
        const { policy, tensors } = bucket;
        return {
          ...policy,
          tensors: tensors.map(({ name }) => name),
          state:
            policy.method.stateHolds === undefined
              ? undefined
              : await compressor.save(),
          memory: this.#group.memoryOf(bucketStream(bucket.index)),
        };
      }),
    );
  }

  /** Restores the previous plan's state. */
  take(left: readonly BucketState[]): StateTransition {
    const carried = this.#buckets.flatMap(({ bucket, carrier, compressor }) => {
      const own = stateFor(left, bucket, carrier.collective?.id);
      if (own === undefined) return [];
      if (own.state !== undefined) compressor.restore(own.state);
      this.#group.remember(bucketStream(bucket.index), own.memory);
      return [own];
    });
    return stateTransition(left, carried);
  }

  /** The methods' state besides the residual, by bucket. */
  async save(): Promise<readonly Uint8Array[]> {
    return await Promise.all(
      this.#buckets.map(async ({ compressor }) => await compressor.save()),
    );
  }

  /** Restores the state saved by an execution of the same plan. */
  restore(states: readonly Uint8Array[]): void {
    for (const [index, { compressor }] of this.#buckets.entries()) {
      compressor.restore(states[index]!);
    }
  }

  /**
   * Restores states that an execution with the same tensors has saved, perhaps under other
   * parameters. Returns whether all fit.
   */
  adopt(states: readonly Uint8Array[]): boolean {
    if (states.length !== this.#buckets.length) return false;
    return this.#buckets.every(({ compressor }, index) => {
      try {
        compressor.restore(states[index]!);
        return true;
      } catch (error) {
        if (toErrorData(error).code !== 'METHOD_STATE_INVALID') throw error;
        return false;
      }
    });
  }

  /**
   * Copies the state of methods and collectives. Returns a function that restores the copy.
   * @param part models of the buckets; default: all
   */
  async keep(part?: ModelPart): Promise<() => void> {
    const buckets =
      part === undefined
        ? this.#buckets
        : this.#buckets.filter(({ bucket }) => part.has(bucket));
    const states = await Promise.all(
      buckets.map(async ({ compressor }) => await compressor.save()),
    );
    const group = this.#group;
    const memories = buckets.map(({ bucket }) =>
      group.memoryOf(bucketStream(bucket.index)),
    );
    return () => {
      for (const [index, { bucket, compressor }] of buckets.entries()) {
        compressor.restore(states[index]!);
        group.remember(bucketStream(bucket.index), memories[index]!);
      }
    };
  }
}
