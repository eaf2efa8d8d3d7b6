/**
 * Decodes one rank's payloads that only their method can read, into the gradient that they
 * represent.
 */
import { residualOf } from '../methods/method.ts';
import { BucketCompressor, type GradientBucket } from '../methods/bucket-compressor.ts';
import { sentBy } from '../methods/payload-check.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { combinedAlone } from '../memory/payload.ts';
import type { Bucket } from '../plan/buckets.ts';
import { ArenaWork } from '../work/arena/arena-work.ts';

export interface ReaderOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly seed: number;
  readonly bucket: Bucket;
}

export class PayloadReader implements Disposable {
  readonly #arena: Arena;
  readonly #compressor: GradientBucket;
  readonly #gradient: Region & Vector;
  /** Residual, for a method that keeps one; always 0 here. */
  readonly #residual: (Region & Vector) | undefined;

  constructor({ arena, bucket, kernels, seed }: ReaderOptions) {
    const { index, length, policy, tensors } = bucket;
    const { method, parameters } = policy;
    this.#arena = arena;
    this.#gradient = arena.allocateVector(length);
    if (residualOf(method, parameters) !== 'none') {
      this.#residual = arena.allocateVector(length);
      kernels.fill(this.#residual, 0);
    }
    const work = new ArenaWork(arena, kernels);
    const residual = this.#residual;
    this.#compressor = new BucketCompressor({
      method,
      context: {
        length,
        tensors,
        parameters,
        seed,
        work,
        residual,
        rank: 0,
        world: 1,
        bucket: index,
      },
      gradient: { offset: this.#gradient.offset, length },
    });
  }

  /**
   * The result is valid until the next call.
   * @throws GradwireError `PAYLOAD_INVALID`, naming the worker
   */
  read(worker: number, data: Region, iteration: number): Float32Array {
    try {
      const payload = this.#compressor.parse(data, iteration);
      const decoded = this.#compressor.decode(combinedAlone(payload), iteration);
      if (decoded instanceof Promise) throw new Error('internal: decoded elsewhere');
      return this.#arena.f32(this.#gradient);
    } catch (error) {
      throw sentBy(worker, error);
    }
  }

  [Symbol.dispose](): void {
    this.#compressor[Symbol.dispose]();
    this.#arena.release(this.#gradient);
    if (this.#residual !== undefined) this.#arena.release(this.#residual);
  }
}
