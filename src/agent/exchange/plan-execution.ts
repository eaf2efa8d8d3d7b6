/**
 * An exchange plan at work: the buckets it makes of the flat gradient, a compressor and a
 * collective for each, and one exchange of them all. Every bucket, in order of readiness,
 * is compensated and compressed and at once given to its collective, so that bucket i is
 * on the wire while bucket i + 1 is being compressed.
 */
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import type { CollectiveDefinition } from '../collectives/collective.ts';
import { payloadRegion } from '../collectives/payload-region.ts';
import {
  carriageOf,
  type Carriage,
  type Combined,
  type CommunicationRequest,
  type Compressor,
  type ExchangeStatistics,
} from '../compression/method.ts';
import { findMethod } from '../compression/registry.ts';
import type { Arena, Vector } from '../kernels/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { PhaseClock } from '../profile/phase-clock.ts';
import { planBuckets, type Bucket, type FlatTensor } from './buckets.ts';
import { carrierOf, collectiveOfBucket } from './collective-choice.ts';
import type { CollectiveGroup } from './collective-group.ts';
import { addStatistics } from './exchange-statistics.ts';
import { notFiniteError } from './not-finite.ts';
import { bucketStream } from './streams.ts';

export interface ExecutionOptions {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
  readonly group: CollectiveGroup;
  readonly tensors: readonly FlatTensor[];
  /** The flat gradient in the arena: input and, averaged, output of an exchange. */
  readonly gradient: Vector;
  /** The flat residual, where the plan's method keeps one. */
  readonly residual: Vector | undefined;
  readonly seed: number;
  readonly plan: ExchangePlan;
}

interface BucketExchange {
  readonly bucket: Bucket;
  readonly compressor: Compressor;
  readonly collective: CollectiveDefinition | undefined;
  readonly gradient: Vector;
}

export class PlanExecution implements Disposable {
  readonly #options: ExecutionOptions;
  readonly #carriage: Carriage;
  readonly #exchanges: readonly BucketExchange[];
  #payloadBytes = 0;

  constructor(options: ExecutionOptions) {
    const { arena, clock, gradient, group, kernels, plan, residual, seed, tensors } =
      options;
    this.#options = options;
    const method = findMethod(plan.method);
    const carriage = carriageOf(method, plan.parameters);
    this.#carriage = carriage;
    this.#exchanges = planBuckets(tensors, plan.bucketBytes).map((bucket) => ({
      bucket,
      gradient: slice(gradient, bucket),
      collective: collectiveOfBucket(plan, carriage, bucket, group.size),
      compressor: method.create({
        length: bucket.length,
        tensors: bucket.tensors,
        parameters: plan.parameters,
        seed,
        rank: group.rank,
        world: group.size,
        bucket: bucket.index,
        arena,
        kernels,
        residual: residual === undefined ? undefined : slice(residual, bucket),
        measure: (phase, work) => clock.measure(phase, work),
      }),
    }));
  }

  /** Payload bytes of this rank in the last exchange. */
  get payloadBytes(): number {
    return this.#payloadBytes;
  }

  /** The collective that carries the largest bucket. */
  get largestCollective(): string {
    let largest: BucketExchange | undefined;
    for (const exchange of this.#exchanges) {
      if (largest === undefined || exchange.bucket.length > largest.bucket.length) {
        largest = exchange;
      }
    }
    return largest?.collective?.id ?? 'allgather';
  }

  /**
   * Every bucket of the gradient becomes its average over the ranks.
   * @throws GradwireError `GRADIENT_NOT_FINITE`, the transport's errors
   */
  async run(iteration: number): Promise<ExchangeStatistics> {
    this.#payloadBytes = 0;
    const running: Promise<ExchangeStatistics>[] = [];
    for (const [index, exchange] of this.#exchanges.entries()) {
      // Let sockets make progress between the compression of one bucket and the next.
      if (index > 0) await new Promise(setImmediate);
      this.#assertFinite(exchange, iteration);
      const exchanged = this.#exchangeBucket(exchange, iteration);
      exchanged.catch(awaitedBelow);
      running.push(exchanged);
    }
    return addStatistics(await Promise.all(running));
  }

  [Symbol.dispose](): void {
    for (const { compressor } of this.#exchanges) compressor[Symbol.dispose]();
  }

  #assertFinite({ bucket, gradient }: BucketExchange, iteration: number): void {
    const { arena, clock, group, kernels } = this.#options;
    const index = clock.measure('compress', () => kernels.firstNonFinite(gradient));
    if (index < 0) return;
    const value = arena.f32(gradient)[index]!;
    throw notFiniteError({ bucket, index, value, iteration, rank: group.rank });
  }

  async #exchangeBucket(
    exchange: BucketExchange,
    iteration: number,
  ): Promise<ExchangeStatistics> {
    const { clock } = this.#options;
    const { compressor, gradient } = exchange;
    const communicate = (request: CommunicationRequest): Promise<Combined> =>
      this.#communicate(exchange, request);
    if (compressor.exchange !== undefined) {
      // Its work up to the first message is timed here, messages time themselves.
      return await clock.measure('compress', () =>
        compressor.exchange!(gradient, iteration, communicate),
      );
    }
    const encoded = clock.measure('compress', () =>
      compressor.encode(gradient, iteration),
    );
    const payload = encoded instanceof Promise ? await encoded : encoded;
    // A method in its warm-up sends a dense vector, whatever it will send later.
    const reduces = this.#carriage.reducible || payload.kind === 'dense';
    const operation = reduces ? 'reduce' : 'gather';
    const combined = await communicate({ operation, payload });
    const decoded = clock.measure('decompress', () =>
      compressor.decode(combined, gradient, iteration),
    );
    return decoded instanceof Promise ? await decoded : decoded;
  }

  #communicate(
    { bucket, collective }: BucketExchange,
    request: CommunicationRequest,
  ): Promise<Combined> {
    const { group } = this.#options;
    const { payload } = request;
    this.#payloadBytes += payloadRegion(payload).bytes;
    const stream = bucketStream(bucket.index);
    switch (request.operation) {
      case 'reduce':
        return group.reduce(
          stream,
          carrierOf(payload, collective, group.size),
          payload,
        );
      case 'gather':
        return group.gather(stream, payload);
      case 'broadcast':
        return group.broadcast(stream, payload, request.root);
      default:
        return request satisfies never;
    }
  }
}

/**
 * Of the exchanges in flight any may fail before its turn to be awaited comes; when the
 * transport fails they all do, with the error of the first that was awaited.
 */
function awaitedBelow(): void {
  // The caller holds the same promise.
}

function slice(vector: Vector, { start, length }: Bucket): Vector {
  return { offset: vector.offset + 4 * start, length };
}
